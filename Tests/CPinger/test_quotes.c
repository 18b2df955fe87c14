/* ICMP errors that quote no more than the UDP header. They do not identify the ping, so one ends a ping only if no other can
 * match. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>

#include "bytes.h"
#include "namespaces.h"

enum { UDP_HEADER = 8 };

struct scene {
    cping *pinger;
    int64_t id;
    int far, raw;
    uint16_t far_port, own_port;
    struct outcome o;
};

static uint16_t checksum(const uint8_t *bytes, size_t length) {
    uint32_t sum = 0;
    for (size_t i = 0; i < length; i++) sum += (uint32_t)bytes[i] << (i & 1 ? 0 : 8);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* "Host unreachable" about a datagram to the far side, of which `quoted` bytes after the IP header are quoted. */
static void send_error(const struct scene *s, const uint8_t *payload, size_t quoted) {
    uint32_t here = htonl(INADDR_LOOPBACK);
    struct iphdr outer = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_ICMP, .saddr = here, .daddr = here};
    struct iphdr inner = {.version = 4, .ihl = 5, .ttl = 1, .protocol = IPPROTO_UDP, .saddr = here, .daddr = here,
                          .tot_len = htons(20 + UDP_HEADER + 24)};
    uint8_t packet[128] = {0}, *icmp = packet + 20, *udp = icmp + 8 + 20;
    memcpy(packet, &outer, 20);
    icmp[0] = 3, icmp[1] = 1;
    memcpy(icmp + 8, &inner, 20);
    cping__put16(udp, s->own_port);
    cping__put16(udp + 2, s->far_port);
    cping__put16(udp + 4, UDP_HEADER + 24);
    if (quoted > UDP_HEADER) memcpy(udp + UDP_HEADER, payload, quoted - UDP_HEADER);
    cping__put16(icmp + 2, checksum(icmp, 8 + 20 + quoted));
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = here};
    size_t length = 20 + 8 + 20 + quoted;
    CHECK(sendto(s->raw, packet, length, 0, (struct sockaddr *)&to, sizeof to) == (ssize_t)length);
}

static void work(struct scene *s) {
    cping_event events[16];
    CHECK(cping_wait(s->pinger, 1) >= 0);
    size_t count = cping_read(s->pinger, events, 16);
    for (size_t i = 0; i < count; i++) collect(&s->o, &events[i]);
}

/* Reads the oldest unread request; works until there is one. */
static void next_request(struct scene *s, uint8_t request[24]) {
    while (recv(s->far, request, 24, MSG_DONTWAIT) != 24) work(s);
}

static cping_target_info inspect(const struct scene *s) {
    cping_target_info info;
    CHECK_EQUAL(cping_inspect(s->pinger, s->id, &info), 0);
    return info;
}

static uint64_t unmatched(const struct scene *s) {
    cping_stats stats;
    cping_get_stats(s->pinger, &stats);
    return stats.unmatched_errors;
}

/* Sends an error, and works until the pinger has read it. */
static void send_bare_error(struct scene *s) {
    uint64_t before = unmatched(s);
    unsigned errors = s->o.icmp_errors;
    send_error(s, NULL, UDP_HEADER);
    while (unmatched(s) == before && s->o.icmp_errors == errors) work(s);
}

/* A flood has no slots that a busy machine could miss: `window` pings are under way, of `count` in all. */
static struct scene begin(uint64_t timeout_ms, uint32_t window, uint64_t count) {
    struct scene s = {.far = socket(AF_INET, SOCK_DGRAM, 0), .raw = socket(AF_INET, SOCK_RAW, IPPROTO_RAW)};
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof local;
    CHECK(s.raw >= 0);
    CHECK(bind(s.far, (struct sockaddr *)&local, sizeof local) == 0);
    CHECK(getsockname(s.far, (struct sockaddr *)&local, &length) == 0);
    s.far_port = ntohs(local.sin_port);
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS}, &s.pinger), 0);
    cping_target target = rtr_target("127.0.0.1", s.far_port, count);
    target.flags = CPING_TARGET_FLOOD;
    target.interval_ns = 0;
    target.window = window;
    target.timeout_ns = timeout_ms * 1000000;
    s.id = cping_add(s.pinger, &target);
    CHECK(s.id > 0);
    s.own_port = inspect(&s).local_port;
    CHECK_EQUAL(cping_start(s.pinger, s.id, 0), 0);
    return s;
}

static void end(struct scene *s) {
    cping_destroy(s->pinger);
    close(s->far);
    close(s->raw);
}

static void answer(const struct scene *s, const uint8_t *request) {
    uint8_t reply[8];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(s->own_port)};
    memcpy(reply, "RR01", 4);
    memcpy(reply + 4, request + 4, 4);
    CHECK(sendto(s->far, reply, 8, 0, (struct sockaddr *)&to, sizeof to) == 8);
}

static void when_one_ping_is_under_way_then_the_error_ends_it(void) {
    struct scene s = begin(5000, 1, 1);
    uint8_t request[24];
    next_request(&s, request);
    send_bare_error(&s);
    CHECK_EQUAL(s.o.icmp_errors, 1);
    end(&s);
}

static void when_several_are_under_way_then_none_is_ended(void) {
    struct scene s = begin(5000, 3, 3);
    uint8_t requests[3][24];
    for (int i = 0; i < 3; i++) next_request(&s, requests[i]);
    send_bare_error(&s);
    CHECK_EQUAL(s.o.icmp_errors, 0);
    /* The sequence behind the header identifies the ping. */
    send_error(&s, requests[1], UDP_HEADER + 8);
    while (s.o.icmp_errors == 0) work(&s);
    answer(&s, requests[0]);
    answer(&s, requests[2]);
    while (!s.o.finished) work(&s);
    CHECK_EQUAL(s.o.answered, 2);
    CHECK_EQUAL(s.o.icmp_errors, 1);
    end(&s);
}

/* The error can belong to the lost ping: routers give up on a neighbour only after seconds. */
static void when_one_was_lost_before_then_the_live_one_continues(void) {
    struct scene s = begin(500, 1, 2);
    uint8_t requests[2][24];
    for (int i = 0; i < 2; i++) next_request(&s, requests[i]);
    CHECK_EQUAL(s.o.lost, 1);
    send_bare_error(&s);
    CHECK_EQUAL(s.o.icmp_errors, 0);
    answer(&s, requests[1]);
    while (!s.o.finished) work(&s);
    CHECK_EQUAL(s.o.answered, 1);
    end(&s);
}

int main(void) {
    enter_new_namespace();
    when_one_ping_is_under_way_then_the_error_ends_it();
    when_several_are_under_way_then_none_is_ended();
    when_one_was_lost_before_then_the_live_one_continues();
    return 0;
}
