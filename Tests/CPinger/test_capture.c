/* A capture of real pings contains each of them, no foreign packets, and the same times. */
#define _GNU_SOURCE
#include "support.h"

#if !CPINGER_CAPTURE

int main(void) {
    skip("built without libpcap");
}

#else

#include "capturing.h"

/* The file agrees with the pinger: each ping, each reply, and the time between them, within 50 us for nine pings in ten. */
static void test_agreement(const char *address, uint16_t port, const char *interface_name, const char *name) {
    static int64_t rtt[1024];
    struct packets packets = {0};
    memset(rtt, 0, sizeof rtt);
    cpcapture *capture = open_capture(name, interface_name, 0, 0);
    cping_target target = link_target(address, port, 200);
    target.interval_ns = 5000000;
    struct outcome outcome = ping(capture, &target, rtt, 0);
    cpcapture_state state;
    cpcapture_close(capture, &state);
    char file[64];
    snprintf(file, sizeof file, "%s-0001.pcap", name);
    read_file(file, &packets);
    unsigned sent = 200 - outcome.not_sent;
    CHECK_EQUAL(packets.requests, sent);
    CHECK_EQUAL(packets.replies, outcome.answered);
    CHECK_EQUAL(packets.foreign, 0);
    CHECK_EQUAL(state.packets, sent + outcome.answered);
    CHECK_EQUAL(state.written, state.packets);
    CHECK_EQUAL(state.dropped_by_kernel + state.unwritten, 0);
    unsigned far_apart = 0;
    int64_t worst = 0;
    for (int i = 0; i < 1024; i++) {
        if (!rtt[i]) continue;
        int64_t difference = llabs((int64_t)packets.rtt_ns[i] - rtt[i]);
        if (difference > worst) worst = difference;
        far_apart += difference > 50000;
    }
    printf("%s on %s: %u pings, %u of them more than 50 us apart, at most %lld ns\n", address, interface_name, sent,
           far_apart, (long long)worst);
    /* A virtual processor can halt between the two stamps of a packet, a few times in a burst. */
    CHECK(far_apart <= sent / 10);
}

/* A capture has echoes and the errors that quote pings, and no foreign packets. */
static void test_kinds(uint16_t port) {
    struct packets packets = {0};
    cpcapture *capture = open_capture("kinds", "any", 0, 0);
    cping_target four = echo_target("10.77.0.2", 10), six = echo_target("fd77::2", 10);
    struct outcome outcome4 = ping(capture, &four, NULL, 0);
    struct outcome outcome6 = ping(capture, &six, NULL, 0);
    CHECK_EQUAL(outcome4.answered + outcome4.not_sent, 10);
    CHECK_EQUAL(outcome6.answered + outcome6.not_sent, 10);
    unsigned echoes = outcome4.answered + outcome6.answered;
    /* Pings of other pingers, to the same host and to the same port. The next steps are quicker than the kernel, which delays packets by
     * half a second: the filter that accepted these is replaced twice before they are read. */
    await_answer("10.77.0.2");
    cping_target other = rtr_target("10.77.0.2", port, 3);
    CHECK_EQUAL(run_target(&other, 0, NULL).finished, 1);
    /* The port is closed: ICMP errors, of which the kernel sends a few a second. */
    cping_target closed4 = rtr_target("10.77.0.2", 9, 3), closed6 = rtr_target("fd77::2", 9, 3);
    struct outcome refused4 = ping(capture, &closed4, NULL, 0);
    struct outcome refused6 = ping(capture, &closed6, NULL, 0);
    cpcapture_close(capture, NULL);
    read_file("kinds-0001.pcap", &packets);
    CHECK_EQUAL(packets.requests, echoes + 6 - refused4.not_sent - refused6.not_sent);
    CHECK_EQUAL(packets.replies, echoes);
    CHECK_EQUAL(packets.errors, refused4.icmp_errors + refused6.icmp_errors);
    CHECK(packets.errors >= 2);
    CHECK_EQUAL(packets.foreign, 0);
}

static void test_follow_has_no_gap(uint16_t port) {
    struct packets packets = {0};
    cpcapture *capture = open_capture("follow", "any", 0, 0);
    cping_target target = link_target("10.77.0.2", port, 900);
    target.interval_ns = 1000000;
    struct outcome outcome = ping(capture, &target, NULL, 2000);
    cpcapture_close(capture, NULL);
    read_file("follow-0001.pcap", &packets);
    CHECK_EQUAL(packets.requests, 900 - outcome.not_sent);
    CHECK_EQUAL(packets.replies, outcome.answered);
}

int main(void) {
    struct scene scene = set_scene();
    test_agreement("10.77.0.2", scene.far.port, "cp-cap-0", "veth");
    test_agreement("fd77::2", scene.far.port, "any", "any6");
    test_agreement("127.0.0.1", scene.local.port, "any", "lo");
    test_kinds(scene.far.port);
    test_follow_has_no_gap(scene.far.port);
    clear_scene(scene);
    return 0;
}

#endif
