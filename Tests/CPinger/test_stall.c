/* A thread that could not run: all packets that arrived meanwhile are read before any ping is judged. The pinger has no thread here:
 * it stalls while it is not called. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>

#include "namespaces.h"

enum { WINDOW = 1850, TIMEOUT_MS = 1200 };

struct far {
    int socket;
    uint16_t port;
    struct sockaddr_in from;
    uint8_t requests[WINDOW][24];
    unsigned count;
};

static void make_room(int fd) {
    int size = 16 << 20;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0) skip("large receive buffers need CAP_NET_ADMIN");
}

static struct far *open_far(void) {
    static struct far far;
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof local;
    far = (struct far){.socket = socket(AF_INET, SOCK_DGRAM, 0)};
    make_room(far.socket);
    CHECK(bind(far.socket, (struct sockaddr *)&local, sizeof local) == 0);
    CHECK(getsockname(far.socket, (struct sockaddr *)&local, &length) == 0);
    far.port = ntohs(local.sin_port);
    return &far;
}

static void take_requests(struct far *far) {
    socklen_t size = sizeof far->from;
    while (far->count < WINDOW && recvfrom(far->socket, far->requests[far->count], 24, MSG_DONTWAIT,
                                           (struct sockaddr *)&far->from, &size) == 24) far->count++;
}

static void answer(const struct far *far, unsigned i) {
    uint8_t reply[8];
    memcpy(reply, "RR01", 4);
    memcpy(reply + 4, far->requests[i] + 4, 4);
    CHECK(sendto(far->socket, reply, 8, 0, (const struct sockaddr *)&far->from, sizeof far->from) == 8);
}

/* Sends WINDOW pings at once, all of them still unanswered. */
static cping *send_window(struct far *far, cping_options options, uint64_t *sent_ns) {
    cping *pinger;
    options.flags = CPING_OPTION_THREADLESS;
    CHECK_EQUAL(cping_create(&options, &pinger), 0);
    cping_target target = rtr_target("127.0.0.1", far->port, WINDOW);
    target.flags = CPING_TARGET_FLOOD;
    target.interval_ns = 0;
    target.window = WINDOW;
    target.timeout_ns = TIMEOUT_MS * UINT64_C(1000000);
    int64_t id = cping_add(pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    while (far->count < WINDOW) {
        CHECK_EQUAL(cping_wait(pinger, 0), 0);
        take_requests(far);
    }
    *sent_ns = cping_now();
    return pinger;
}

/* Waits without calling the pinger. */
static void stall_until(uint64_t time_ns) {
    for (uint64_t now_ns; (now_ns = cping_now()) < time_ns;) poll(NULL, 0, (int)((time_ns - now_ns) / 1000000 + 1));
}

static struct outcome drain(cping *pinger) {
    struct outcome o = {0};
    while (!o.finished) {
        cping_event events[64];
        CHECK_EQUAL(cping_wait(pinger, 10000), 1);
        size_t count = cping_read(pinger, events, 64);
        for (size_t i = 0; i < count; i++) collect(&o, &events[i]);
    }
    return o;
}

static void when_answers_wait_in_the_socket_then_none_is_lost(uint32_t ring_capacity) {
    struct far *far = open_far();
    uint64_t sent_ns;
    cping *pinger = send_window(far, (cping_options){.ring_capacity = ring_capacity}, &sent_ns);
    for (unsigned i = 0; i < WINDOW; i++) answer(far, i);
    uint64_t answered_ns = cping_now();
    stall_until(sent_ns + TIMEOUT_MS * UINT64_C(1000000) + 1);
    struct outcome o = drain(pinger);
    printf("ring of %u: answered %.0f ms after sending: %u answered, %u lost, %u late\n", ring_capacity,
           (double)(answered_ns - sent_ns) / 1e6, o.answered, o.lost, o.late);
    CHECK_EQUAL(o.verdicts, WINDOW);
    CHECK_EQUAL(o.lost + o.late, 0);
    CHECK_EQUAL(o.answered, WINDOW);
    cping_destroy(pinger);
    close(far->socket);
}

/* Pings without an answer are still lost after the stall. */
static void when_only_some_were_answered_then_the_others_are_lost(void) {
    struct far *far = open_far();
    uint64_t sent_ns;
    cping *pinger = send_window(far, (cping_options){0}, &sent_ns);
    for (unsigned i = 0; i < WINDOW; i += 2) answer(far, i);
    stall_until(sent_ns + TIMEOUT_MS * UINT64_C(1000000) + 1);
    struct outcome o = drain(pinger);
    CHECK_EQUAL(o.answered, WINDOW / 2);
    CHECK_EQUAL(o.lost, WINDOW / 2);
    CHECK_EQUAL(o.late, 0);
    cping_destroy(pinger);
    close(far->socket);
}

static void when_it_is_shut_down_then_waiting_answers_are_not_cancelled(void) {
    struct far *far = open_far();
    uint64_t sent_ns;
    cping *pinger = send_window(far, (cping_options){.ring_capacity = 4096}, &sent_ns);
    for (unsigned i = 0; i < WINDOW; i++) answer(far, i);
    cping_shutdown(pinger);
    struct outcome o = {0};
    cping_event event;
    while (cping_read(pinger, &event, 1)) collect(&o, &event);
    CHECK_EQUAL(o.cancelled, 0);
    CHECK_EQUAL(o.answered, WINDOW);
    cping_destroy(pinger);
    close(far->socket);
}

static void when_it_is_shut_down_then_waiting_late_answers_count_as_late(void) {
    struct far *far = open_far();
    uint64_t sent_ns;
    cping *pinger = send_window(far, (cping_options){.ring_capacity = 4096}, &sent_ns);
    struct outcome o = drain(pinger);
    CHECK_EQUAL(o.lost, WINDOW);
    for (unsigned i = 0; i < WINDOW; i++) answer(far, i);
    cping_shutdown(pinger);
    cping_event event;
    while (cping_read(pinger, &event, 1)) collect(&o, &event);
    CHECK_EQUAL(o.late, WINDOW);
    cping_destroy(pinger);
    close(far->socket);
}

/* Late, but within the time for which pings are remembered, which does not run out while nothing is read. */
static void when_late_answers_wait_then_they_count_as_late(void) {
    struct far *far = open_far();
    uint64_t sent_ns;
    cping *pinger = send_window(far, (cping_options){.linger_ns = TIMEOUT_MS * UINT64_C(1000000)}, &sent_ns);
    stall_until(sent_ns + TIMEOUT_MS * UINT64_C(1000000) + 1);
    struct outcome o = drain(pinger);
    CHECK_EQUAL(o.lost, WINDOW);
    for (unsigned i = 0; i < WINDOW; i++) answer(far, i);
    stall_until(sent_ns + 2 * TIMEOUT_MS * UINT64_C(1000000) + 1000000);
    while (o.late < WINDOW) {
        cping_event events[64];
        CHECK_EQUAL(cping_wait(pinger, 1000), 1);
        size_t count = cping_read(pinger, events, 64);
        for (size_t i = 0; i < count; i++) collect(&o, &events[i]);
    }
    cping_stats stats;
    cping_get_stats(pinger, &stats);
    CHECK_EQUAL(stats.unknown_sequence, 0);
    cping_destroy(pinger);
    close(far->socket);
}

/* Foreign datagrams before the answers hide none of them. */
static void when_strangers_fill_the_socket_then_answers_behind_them_are_read(void) {
    struct far *far = open_far();
    uint64_t sent_ns;
    cping *pinger = send_window(far, (cping_options){0}, &sent_ns);
    int stranger = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < 3000; i++) {
        CHECK(sendto(stranger, "RR01????", 8, 0, (struct sockaddr *)&far->from, sizeof far->from) == 8);
    }
    for (unsigned i = 0; i < WINDOW; i++) answer(far, i);
    stall_until(sent_ns + TIMEOUT_MS * UINT64_C(1000000) + 1);
    struct outcome o = drain(pinger);
    CHECK_EQUAL(o.lost + o.late, 0);
    CHECK_EQUAL(o.answered, WINDOW);
    close(stranger);
    cping_destroy(pinger);
    close(far->socket);
}

int main(void) {
    enter_new_namespace();
    when_answers_wait_in_the_socket_then_none_is_lost(0);
    when_answers_wait_in_the_socket_then_none_is_lost(4096);
    when_only_some_were_answered_then_the_others_are_lost();
    when_it_is_shut_down_then_waiting_answers_are_not_cancelled();
    when_it_is_shut_down_then_waiting_late_answers_count_as_late();
    when_late_answers_wait_then_they_count_as_late();
    when_strangers_fill_the_socket_then_answers_behind_them_are_read();
    return 0;
}
