/* A run of pings over a network that breaks and heals: it goes on, and is back at once. */
#ifndef RECOVERY_H
#define RECOVERY_H

#include <time.h>

#include "support.h"

struct run {
    const char *name;
    cping *pinger;
    int64_t id;
    uint64_t interval_ns;
    int error;  /* one that must be seen, or 0 */
    uint64_t broken_ns, healing_ns, healed_ns;
};

static inline void wait_ms(int ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms % 1000 * 1000000L, .tv_sec = ms / 1000}, NULL);
}

static inline struct run begin_run(const char *name, const cping_target *target) {
    struct run run = {.name = name, .interval_ns = target->interval_ns};
    CHECK_EQUAL(cping_create(NULL, &run.pinger), 0);
    run.id = cping_add(run.pinger, target);
    CHECK(run.id > 0);
    CHECK_EQUAL(cping_start(run.pinger, run.id, 0), 0);
    wait_ms(200);
    run.broken_ns = cping_now();
    return run;
}

static inline void check_slots(cping *pinger, int64_t id, uint64_t verdicts) {
    cping_target_info info;
    CHECK_EQUAL(cping_inspect(pinger, id, &info), 0);
    CHECK_EQUAL(info.answered + info.lost + info.refused + info.icmp_errors + info.not_sent + info.cancelled, info.slots);
    CHECK_EQUAL(verdicts, info.slots);
}

/* Every slot has its verdict, some during the break were no answers, and pings are answered again at once. */
static inline void end(struct run *run) {
    run->healed_ns = cping_now();
    wait_ms(300);
    CHECK_EQUAL(cping_stop(run->pinger, run->id), 0);
    uint64_t verdicts = 0, failed = 0, before = 0, first_ns = 0, missed = 0, seen = 0;
    for (cping_event event = {0}; event.kind != CPING_FINISHED;) {
        CHECK_EQUAL(cping_wait(run->pinger, 10000), 1);
        CHECK_EQUAL(cping_read(run->pinger, &event, 1), 1);
        if (event.kind >= CPING_LATE) continue;
        verdicts += event.count;
        int answered = event.kind == CPING_ANSWERED;
        seen += event.error == run->error;
        if (event.slot_ns < run->broken_ns) before += (uint64_t)answered;
        else if (!answered) failed += event.count;
        if (event.error == ETIME && event.slot_ns > run->healing_ns && !first_ns) missed += event.count;
        if (answered && event.sent_ns > run->healing_ns && !first_ns) first_ns = event.sent_ns;
    }
    check_slots(run->pinger, run->id, verdicts);
    cping_stats stats;
    cping_get_stats(run->pinger, &stats);
    double late_ms = first_ns ? ((double)first_ns - (double)run->healed_ns) / 1e6 : -1;
    printf("%-42s first ping %+6.1f ms after healing; %ju failed, %ju changes, %ju reopened\n", run->name, late_ms,
           (uintmax_t)failed, (uintmax_t)stats.network_changes, (uintmax_t)stats.reopened);
    CHECK(before > 0 && failed > 0 && first_ns > 0 && seen > 0);
    /* On a busy machine the thread itself may not have run. */
    CHECK(late_ms <= (double)run->interval_ns / 1e6 * (double)(1 + missed) + 20);
    cping_destroy(run->pinger);
}

static inline void heal(struct run *run) {
    run->healing_ns = cping_now();
}

#endif
