/* The life of instances and targets: start, stop, remove, shutdown, overflow, misuse. */
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "support.h"

static cping *create(uint32_t ring_capacity) {
    cping *pinger;
    CHECK_EQUAL(cping_create(&(cping_options){.ring_capacity = ring_capacity}, &pinger), 0);
    return pinger;
}

static void next_event(cping *pinger, cping_event *event) {
    CHECK_EQUAL(cping_wait(pinger, 10000), 1);
    CHECK_EQUAL(cping_read(pinger, event, 1), 1);
}

static void refuses_misuse(void) {
    cping *pinger = create(0);
    cping_target good = rtr_target("127.0.0.1", 9, 1), target = good;
    target.protocol = 0;
    CHECK_EQUAL(cping_add(pinger, &target), -EINVAL);
    target = good;
    target.destination.port = 0;
    CHECK_EQUAL(cping_add(pinger, &target), -EINVAL);
    target = good;
    target.interval_ns = 999999;
    CHECK_EQUAL(cping_add(pinger, &target), -EINVAL);
    target = good;
    memset(target.destination.bytes, 0, 16);
    CHECK_EQUAL(cping_add(pinger, &target), -EINVAL);
    target = good;
    strcpy(target.interface_name, "nosuch0");
    CHECK_EQUAL(cping_add(pinger, &target), -ENODEV);
    CHECK_EQUAL(cping_start(pinger, 1, 0), -ENOENT);
    CHECK_EQUAL(cping_remove(pinger, 99), -ENOENT);
    int64_t id = cping_add(pinger, &good);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), -EALREADY);
    cping_shutdown(pinger);
    CHECK_EQUAL(cping_add(pinger, &good), -ESHUTDOWN);
    cping_shutdown(pinger);
    cping_destroy(pinger);
    cping_destroy(NULL);
    CHECK(strstr(cping_explain(-EACCES), "ping_group_range"));
}

static void sequences_go_on_across_targets(void) {
    struct reflector reflector = REFLECT();
    cping *pinger = create(0);
    cping_target target = patient(rtr_target("127.0.0.1", reflector.port, 3));
    uint32_t expected = 0;
    unsigned answered = 0, missed = 0;
    for (int round = 0; round < 2; round++) {
        int64_t id = cping_add(pinger, &target);
        CHECK_EQUAL(id, round + 1);
        CHECK_EQUAL(cping_start(pinger, id, 0), 0);
        for (cping_event event = {0}; event.kind != CPING_REMOVED;) {
            next_event(pinger, &event);
            if (event.kind == CPING_FINISHED) CHECK_EQUAL(cping_remove(pinger, id), 0);
            if (event.kind == CPING_NOT_SENT) missed += (unsigned)event.count;
            if (event.kind != CPING_ANSWERED) continue;
            if (answered++) CHECK_EQUAL(event.sequence, expected);
            expected = event.sequence + 1;
        }
    }
    CHECK_EQUAL(answered + missed, 6);
    cping_destroy(pinger);
    reflector_stop(reflector);
}

static void reports_missed_slots_without_a_burst(void) {
    struct reflector reflector = REFLECT();
    cping *pinger = create(0);
    cping_target target = rtr_target("127.0.0.1", reflector.port, 100);
    int64_t id = cping_add(pinger, &target);
    /* A first slot in the past simulates a thread that could not run. */
    CHECK_EQUAL(cping_start(pinger, id, cping_now() - 905000000), 0);
    cping_event event;
    next_event(pinger, &event);
    CHECK_EQUAL(event.kind, CPING_NOT_SENT);
    CHECK_EQUAL(event.error, ETIME);
    CHECK_EQUAL(event.slot, 0);
    CHECK(event.count >= 90);
    struct outcome outcome = {0};
    collect(&outcome, &event);
    while (!outcome.finished) {
        next_event(pinger, &event);
        collect(&outcome, &event);
    }
    CHECK_EQUAL(outcome.verdicts, 100);
    cping_destroy(pinger);
    reflector_stop(reflector);
}

static void cancels_pending_pings(void) {
    struct reflector reflector = REFLECT("--drop", "100");
    cping *pinger = create(0);
    cping_target target = rtr_target("127.0.0.1", reflector.port, 0);
    target.timeout_ns = 60000000000;
    int64_t id = cping_add(pinger, &target);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    cping_target_info info = {0};
    while (info.pending < 3) CHECK_EQUAL(cping_inspect(pinger, id, &info), 0);
    CHECK_EQUAL(info.socket, CPING_SOCKET_DATAGRAM);
    CHECK(info.local_port != 0);
    cping_shutdown(pinger);
    struct outcome outcome = {0};
    cping_event event;
    while (cping_wait(pinger, 10000) == 1) {
        CHECK_EQUAL(cping_read(pinger, &event, 1), 1);
        collect(&outcome, &event);
    }
    CHECK(outcome.cancelled >= 3);
    CHECK_EQUAL(outcome.removed, 1);
    CHECK_EQUAL(event.kind, CPING_REMOVED);
    CHECK_EQUAL(cping_wait(pinger, 10000), -ESHUTDOWN);
    cping_destroy(pinger);
    reflector_stop(reflector);
}

/* One write signals many events to a reader that polls at its own times. */
static void signals_a_slow_reader_once(void) {
    struct reflector reflector = REFLECT();
    cping *pinger = create(0);
    cping_target target = rtr_target("127.0.0.1", reflector.port, 0);
    int64_t id = cping_add(pinger, &target);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    for (int round = 0; round < 3; round++) {
        cping_stats stats = {0};
        for (uint64_t before = 0; before == 0 || stats.answered < before + 3;) {
            cping_get_stats(pinger, &stats);
            if (before == 0) before = stats.answered + 1;
        }
        eventfd_t writes = 0;
        CHECK_EQUAL(eventfd_read(cping_event_fd(pinger), &writes), 0);
        CHECK_EQUAL(writes, 1);
        unsigned count = 0;
        for (cping_event event; cping_read(pinger, &event, 1);) count++;
        CHECK(count >= 3);
    }
    cping_event event;
    next_event(pinger, &event);
    cping_destroy(pinger);
    reflector_stop(reflector);
}

static void reports_what_a_full_ring_drops(void) {
    cping *pinger = create(4);
    /* Send many: slots that a busy machine misses share an event. */
    cping_target target = rtr_target("127.0.0.1", 9, 500);
    target.interval_ns = 1000000;
    target.timeout_ns = 5000000;
    int64_t id = cping_add(pinger, &target);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    cping_stats stats = {0};
    while (stats.lost + stats.icmp_errors + stats.not_sent < 500) cping_get_stats(pinger, &stats);
    /* One event can have the verdicts of several slots, and FINISHED is one more: only the sums must agree. */
    uint64_t dropped = 0, received = 0;
    cping_event event;
    while (cping_wait(pinger, 300) == 1) {
        CHECK_EQUAL(cping_read(pinger, &event, 1), 1);
        if (event.kind == CPING_OVERFLOW) dropped += event.count;
        else received++;
    }
    cping_get_stats(pinger, &stats);
    CHECK(dropped > 0 && received >= 4);
    CHECK_EQUAL(dropped, stats.dropped_events);
    cping_destroy(pinger);
}

static void *wait_forever(void *pinger) {
    return (void *)(intptr_t)cping_wait(pinger, -1);
}

static void wakes_and_ends_waiters(void) {
    cping *pinger = create(0);
    pthread_t waiter;
    void *result;
    cping_wake(pinger);
    CHECK_EQUAL(cping_wait(pinger, -1), 0);
    CHECK_EQUAL(cping_wait(pinger, 0), 0);
    CHECK_EQUAL(pthread_create(&waiter, NULL, wait_forever, pinger), 0);
    cping_wake(pinger);
    pthread_join(waiter, &result);
    CHECK_EQUAL((intptr_t)result, 0);
    CHECK_EQUAL(pthread_create(&waiter, NULL, wait_forever, pinger), 0);
    cping_shutdown(pinger);
    pthread_join(waiter, &result);
    CHECK_EQUAL((intptr_t)result, -ESHUTDOWN);
    cping_destroy(pinger);
}

int main(void) {
    refuses_misuse();
    sequences_go_on_across_targets();
    reports_missed_slots_without_a_burst();
    cancels_pending_pings();
    signals_a_slow_reader_once();
    reports_what_a_full_ring_drops();
    wakes_and_ends_waiters();
    return 0;
}
