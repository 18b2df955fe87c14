/* Pings to a plain UDP echo service: their bytes, a run against the reflector, and what the reflector does not answer. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "echo_limit.c"
#include "oneway.h"
#include "support.h"
#include "udpecho.h"

static void packets_are_as_documented(void) {
    uint8_t packet[24], expected[18];
    cping__udpecho_key key = {.sequence = 0x9397, .token = UINT64_C(0x0102030405060708), .port = 7}, read = {.port = 7};
    from_hex("43504531 00009397 0102030405060708 0007", expected, sizeof expected);
    cping__udpecho_encode(packet, sizeof packet, &key);
    CHECK(memcmp(packet, expected, sizeof expected) == 0);
    CHECK_EQUAL(cping__udpecho_parse(packet, 16, &read), 0);
    CHECK(read.sequence == key.sequence && read.token == key.token);
    CHECK_EQUAL(cping__udpecho_parse(packet, 15, &read), -1);
    CHECK(cping__udpecho_equals(packet, sizeof packet, &key));
    CHECK(!cping__udpecho_equals(packet, 17, &key));
    for (size_t i = 0; i < sizeof packet; i++) {
        packet[i] ^= 16;
        CHECK(!cping__udpecho_equals(packet, sizeof packet, &key));
        packet[i] ^= 16;
    }
}

static void sizes_are_checked(void) {
    cping *pinger;
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    cping_target target = {.protocol = CPING_UDP_ECHO, .size = 17};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", 7), 0);
    CHECK_EQUAL(cping_add(pinger, &target), -EINVAL);
    target.size = 18;
    CHECK(cping_add(pinger, &target) > 0);
    target.destination.port = 0;
    CHECK_EQUAL(cping_add(pinger, &target), -EINVAL);
    cping_destroy(pinger);
}

static void is_answered_by_the_reflector(const char *address, uint16_t size) {
    struct reflector reflector = reflector_start((const char *[]){"--echo", NULL});
    cping_target target = {.protocol = CPING_UDP_ECHO, .interval_ns = 10000000, .timeout_ns = 5000000000, .count = 10,
                           .size = size};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, reflector.port), 0);
    cping_stats stats;
    struct outcome o = run_target(&target, 0, &stats);
    CHECK_EQUAL(o.answered + o.not_sent, 10);
    CHECK(o.answered > 0 && o.last.rtt_ns > 0);
    CHECK_EQUAL(stats.corrupt + stats.foreign_source + stats.unknown_magic + stats.unknown_sequence, 0);
    reflector_stop(reflector);
}

/* ---- What the reflector withholds ---- */

static int socket_at(uint16_t port) {
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(fd, (struct sockaddr *)&local, sizeof local) == 0) return fd;
    close(fd);
    return -1;
}

static void send_to(int fd, uint16_t port, const char *text) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    CHECK(sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof to) == (ssize_t)strlen(text));
}

/* Whether the next answer is `text`; the reflector answers in order. */
static int receives(int fd, const char *text) {
    char bytes[64];
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    CHECK_EQUAL(poll(&ready, 1, 30000), 1);
    ssize_t length = recv(fd, bytes, sizeof bytes, 0);
    return length == (ssize_t)strlen(text) && memcmp(bytes, text, (size_t)length) == 0;
}

static int has_nothing(int fd) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, 0) == 0;
}

/* A request from another socket follows, so that the silence is certain when that one is answered. */
static void services_get_no_echo(void) {
    struct reflector reflector = reflector_start((const char *[]){"--echo", NULL});
    int service = socket_at(1019), client = socket_at(0);
    if (service < 0) {
        fprintf(stderr, "not tried: a port below 1024 is not permitted or not free here\n");
    } else {
        send_to(service, reflector.port, "from a port of services");
        send_to(client, reflector.port, "after it");
        CHECK(receives(client, "after it"));
        CHECK(has_nothing(service));
        close(service);
    }
    close(client);
    reflector_stop(reflector);
}

static void without_the_option_nothing_is_echoed(void) {
    struct reflector reflector = reflector_start((const char *[]){"--one-way", NULL});
    uint8_t request[72];
    cping__oneway_key key = {.number = 1};
    int client = socket_at(0);
    send_to(client, reflector.port, "hello");
    cping__oneway_encode(request, sizeof request, &key);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons(reflector.port)};
    CHECK(sendto(client, request, sizeof request, 0, (struct sockaddr *)&to, sizeof to) == 72);
    CHECK(!receives(client, "hello"));
    CHECK(has_nothing(client));
    close(client);
    reflector_stop(reflector);
}

static void sources_have_a_rate(void) {
    static struct echo_limit limit;
    static const uint8_t one[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
    static const uint8_t other[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 2};
    static const uint8_t six[16] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 1}, neighbour[16] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 2};
    for (int i = 0; i < 10; i++) CHECK(echo_limit_admits(&limit, one, 10, 1));
    CHECK(!echo_limit_admits(&limit, one, 10, 1));
    CHECK(echo_limit_admits(&limit, other, 10, 1));
    CHECK(echo_limit_admits(&limit, one, 10, 1.15));
    CHECK(!echo_limit_admits(&limit, one, 10, 1.15));
    for (int i = 0; i < 10; i++) CHECK(echo_limit_admits(&limit, six, 10, 1.2));
    CHECK(!echo_limit_admits(&limit, neighbour, 10, 1.2));
    CHECK(!echo_limit_admits(&limit, other, 0, 5));
    /* Forged sources: together they get no more than 50 of them would. */
    int admitted = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        uint8_t forged[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
        admitted += echo_limit_admits(&limit, forged, 10, 100);
    }
    CHECK_EQUAL(admitted, 500);
}

int main(void) {
    packets_are_as_documented();
    sizes_are_checked();
    is_answered_by_the_reflector("127.0.0.1", 0);
    is_answered_by_the_reflector("::1", 1400);
    services_get_no_echo();
    without_the_option_nothing_is_echoed();
    sources_have_a_rate();
    return 0;
}
