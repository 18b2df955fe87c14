/* Raw ICMP beside other programs that ping: their replies are ignored, even those that arrive before the socket has its filter.
 * Loopback of an own namespace. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "filter.h"
#include "icmp.h"
#include "namespaces.h"

enum { RUNS = 50, FLOODERS = 2 };

static void flood(const char *address) {
    cping *pinger;
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .flags = CPING_TARGET_FLOOD};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, 0), 0);
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS, .remembered = 64}, &pinger), 0);
    CHECK_EQUAL(cping_start(pinger, cping_add(pinger, &target), 0), 0);
    for (cping_event events[64]; cping_wait(pinger, -1) >= 0;) cping_read(pinger, events, 64);
}

static pid_t start_flooder(const char *address) {
    pid_t flooder = fork();
    CHECK(flooder >= 0);
    if (flooder > 0) return flooder;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    flood(address);
    exit(1);
}

static void when_others_ping_then_their_replies_are_ignored(const char *address) {
    pid_t flooders[FLOODERS];
    unsigned noisy = 0;
    for (int i = 0; i < FLOODERS; i++) flooders[i] = start_flooder(address);
    for (int i = 0; i < RUNS; i++) {
        cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .interval_ns = 1000000, .count = 3};
        cping_stats stats;
        CHECK_EQUAL(cping_address_parse(&target.destination, address, 0), 0);
        struct outcome o = run_target(&target, 0, &stats);
        CHECK_EQUAL(o.answered + o.not_sent, 3);
        noisy += stats.corrupt + stats.unknown_magic + stats.short_replies + stats.unknown_sequence > 0;
    }
    for (int i = 0; i < FLOODERS; i++) release_namespace(flooders[i]);
    printf("%s: %u of %d runs took foreign replies for their own\n", address, noisy, RUNS);
    CHECK_EQUAL(noisy, 0);
}

/* Packets from before the filter are discarded, and later ones are filtered. */
static void when_the_filter_is_attached_then_older_packets_are_discarded(void) {
    uint16_t identifier = 0x4711;
    uint8_t request[64] = {8};
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    CHECK(fd >= 0);
    request[2] = 0xf7, request[3] = 0xff;  /* the checksum of an empty request */
    for (int i = 0; i < 100; i++) CHECK(sendto(fd, request, 8, 0, (struct sockaddr *)&here, sizeof here) == 8);
    CHECK(recv(fd, request, sizeof request, MSG_PEEK | MSG_DONTWAIT) > 0);
    CHECK_EQUAL(cping__filter_echo_replies(fd, 4, &identifier, 1), 0);
    CHECK(recv(fd, request, sizeof request, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    memset(request, 0, 8);
    request[0] = 8, request[2] = 0xf7, request[3] = 0xff;
    CHECK(sendto(fd, request, 8, 0, (struct sockaddr *)&here, sizeof here) == 8);
    CHECK(recv(fd, request, sizeof request, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    close(fd);
}

/* Sends echo requests with this identifier and every sequence, as ping -e does, until it is killed. */
static pid_t start_namesake(uint16_t identifier) {
    pid_t namesake = fork();
    CHECK(namesake >= 0);
    if (namesake > 0) return namesake;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    for (uint32_t sequence = 0;; sequence++) {
        uint8_t request[64];
        cping__icmp_encode(request, sizeof request - CPING__ICMP_HEADER, 4, identifier, sequence, 0x1122334455667788);
        /* Half of them with a payload of another kind: zeroes, and the checksum of all. */
        if (sequence & 1) {
            memset(request + CPING__ICMP_HEADER, 0, sizeof request - CPING__ICMP_HEADER);
            uint32_t sum = 0x0800u + identifier + (sequence & 0xffff);
            sum = (sum & 0xffff) + (sum >> 16);
            request[2] = (uint8_t)(~sum >> 8), request[3] = (uint8_t)~sum;
        }
        sendto(fd, request, sizeof request, 0, (struct sockaddr *)&here, sizeof here);
    }
}

static void when_another_program_has_the_same_identifier_then_its_echoes_are_not_corrupt_ones(void) {
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .interval_ns = 5000000, .count = 100,
                           .flags = CPING_TARGET_ICMP_ID, .icmp_id = 0x4712};
    cping_stats stats;
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", 0), 0);
    pid_t namesake = start_namesake(target.icmp_id);
    struct outcome o = run_target(&target, 0, &stats);
    release_namespace(namesake);
    printf("%ju foreign replies with the same identifier\n", (uintmax_t)stats.foreign_source);
    CHECK(stats.foreign_source > 100);
    CHECK_EQUAL(o.corrupt, 0);
    CHECK_EQUAL(o.answered + o.not_sent, 100);
}

int main(void) {
    enter_new_namespace();
    run_command("sysctl -qw net.ipv4.icmp_ratemask=0 net.ipv4.icmp_msgs_per_sec=100000000 || true");
    when_the_filter_is_attached_then_older_packets_are_discarded();
    when_another_program_has_the_same_identifier_then_its_echoes_are_not_corrupt_ones();
    when_others_ping_then_their_replies_are_ignored("127.0.0.1");
    when_others_ping_then_their_replies_are_ignored("::1");
    return 0;
}
