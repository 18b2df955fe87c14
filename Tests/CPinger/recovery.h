/* Pings over a network that breaks and heals: the run continues, and is answered at once after healing. */
#ifndef RECOVERY_H
#define RECOVERY_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

struct run {
    const char *name;
    cping *pinger;
    int64_t id;
    uint64_t interval_ns;
    int error;  /* must be seen, unless 0 */
    uint64_t broken_ns, healing_ns, healed_ns;
    cping_target target;
    struct census *census;
};

/* The length of a break, or of a time in which nothing may happen. For an event, use AWAIT. */
static inline void wait_ms(int ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms % 1000 * 1000000L, .tv_sec = ms / 1000}, NULL);
}

/* ---- How busy the machine is ---- */

/* A thread that counts runnable threads: when there are more than processors, any thread may have to wait. */
struct census {
    pthread_t thread;
    atomic_int is_over;
    int greatest;
};

static inline void *count_runnable(void *argument) {
    struct census *census = argument;
    while (!census->is_over) {
        int runnable = 0;
        FILE *load = fopen("/proc/loadavg", "re");
        if (load) {
            if (fscanf(load, "%*s %*s %*s %d", &runnable) == 1 && runnable > census->greatest) census->greatest = runnable;
            fclose(load);
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return NULL;
}

static inline struct census *begin_census(void) {
    struct census *census = calloc(1, sizeof *census);
    CHECK(census != NULL);
    CHECK_EQUAL(pthread_create(&census->thread, NULL, count_runnable, census), 0);
    return census;
}

/* Returns whether the machine was busy. */
static inline int end_census(struct census *census) {
    census->is_over = 1;
    pthread_join(census->thread, NULL);
    int is_busy = census->greatest > sysconf(_SC_NPROCESSORS_ONLN);
    free(census);
    return is_busy;
}

/* ---- Runs ---- */

/* Fails the test if `condition` is still false after ten seconds. */
#define AWAIT(condition)                                            \
    do {                                                            \
        for (int i_ = 0; i_ < 2000 && !(condition); i_++) wait_ms(5); \
        CHECK(condition);                                           \
    } while (0)

static inline cping_target_info inspect(cping *pinger, int64_t id) {
    cping_target_info info;
    CHECK_EQUAL(cping_inspect(pinger, id, &info), 0);
    return info;
}

static inline struct run begin_run(const char *name, const cping_target *target) {
    struct run run = {.name = name, .interval_ns = target->interval_ns, .target = *target};
    CHECK_EQUAL(cping_create(NULL, &run.pinger), 0);
    run.id = cping_add(run.pinger, target);
    CHECK(run.id > 0);
    CHECK_EQUAL(cping_start(run.pinger, run.id, 0), 0);
    wait_ms(200);
    AWAIT(inspect(run.pinger, run.id).answered > 0);
    run.census = begin_census();
    run.broken_ns = cping_now();
    return run;
}

static inline void check_slots(cping *pinger, int64_t id, uint64_t verdicts) {
    cping_target_info info = inspect(pinger, id);
    CHECK_EQUAL(info.answered + info.lost + info.refused + info.icmp_errors + info.not_sent + info.cancelled, info.slots);
    CHECK_EQUAL(verdicts, info.slots);
}

/* The time when the network itself has healed: one of many fresh pingers gets the first answer. The kernel can be late, because other
 * tests hold its lock. 0 if this thread may not open a socket. */
static inline uint64_t await_network(const struct run *run) {
    cping_target target = run->target;
    target.interval_ns = 5000000;
    target.flags &= ~(unsigned)CPING_TARGET_AWAIT;
    int64_t id = 0;
    cping_event event = {0};
    for (uint64_t limit_ns = cping_now() + UINT64_C(20000000000); cping_now() < limit_ns;) {
        cping *pinger;
        uint64_t answered_ns = 0;
        CHECK_EQUAL(cping_create(NULL, &pinger), 0);
        id = cping_add(pinger, &target);
        if (id > 0) {
            CHECK_EQUAL(cping_start(pinger, id, 0), 0);
            for (uint64_t end_ns = cping_now() + 50000000; !answered_ns && cping_now() < end_ns;) {
                if (cping_wait(pinger, 50) != 1 || cping_read(pinger, &event, 1) != 1) break;
                if (event.kind == CPING_ANSWERED) answered_ns = event.sent_ns;
            }
        }
        cping_destroy(pinger);
        if (answered_ns || id == -EPERM || id == -EACCES) return answered_ns;
        wait_ms(2);
    }
    fprintf(stderr, "%s: no fresh pinger is answered: added %lld, last event %d error %d\n", run->name, (long long)id, (int)event.kind,
            event.error);
    CHECK(!"the network has healed");
    return 0;
}

/* Whether the last run's first answer came late on a busy machine, which proves nothing about the pinger. */
static int is_inconclusive;

/* Repeats a run that was late on a busy machine; on a quiet machine, a late run has failed. */
#define AT_ONCE(run)                                              \
    do {                                                          \
        for (int i_ = 0; i_ < 10 && (i_ == 0 || is_inconclusive); i_++) { \
            is_inconclusive = 0;                                  \
            run;                                                  \
        }                                                         \
        CHECK(!is_inconclusive);                                  \
    } while (0)

/* Every slot has its verdict, some slots during the break have no answer, and pings are answered at once after it. */
static inline void end(struct run *run) {
    run->healed_ns = cping_now();
    uint64_t network_ns = await_network(run);
    if (network_ns > run->healed_ns) run->healed_ns = network_ns;
    uint64_t answered_before = inspect(run->pinger, run->id).answered;
    wait_ms(300);
    AWAIT(inspect(run->pinger, run->id).answered > answered_before);
    int is_busy = end_census(run->census);
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
    printf("%-42s first ping %+6.1f ms after healing; %ju failed, %ju changes, %ju reopened%s\n", run->name, late_ms,
           (uintmax_t)failed, (uintmax_t)stats.network_changes, (uintmax_t)stats.reopened, is_busy ? "; busy machine" : "");
    CHECK(before > 0 && failed > 0 && first_ns > 0 && seen > 0);
    /* On a busy machine the pinger's thread may not have run. */
    int is_late = late_ms > (double)run->interval_ns / 1e6 * (double)(1 + missed) + 20;
    CHECK(!is_late || is_busy);
    is_inconclusive = is_late;
    cping_destroy(run->pinger);
}

static inline void heal(struct run *run) {
    run->healing_ns = cping_now();
}

#endif
