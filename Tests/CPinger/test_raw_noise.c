/* Raw ICMP beside other programs that ping: their replies are ignored, even those that arrive before the socket has its filter.
 * Loopback of an own namespace. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "filter.h"
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

int main(void) {
    enter_new_namespace();
    run_command("sysctl -qw net.ipv4.icmp_ratemask=0 net.ipv4.icmp_msgs_per_sec=100000000 || true");
    when_the_filter_is_attached_then_older_packets_are_discarded();
    when_others_ping_then_their_replies_are_ignored("127.0.0.1");
    when_others_ping_then_their_replies_are_ignored("::1");
    return 0;
}
