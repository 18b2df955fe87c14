/* The clock is set while pings are under way: +200 ms, back, -200 ms, back, for a tenth of a second each; by 20 s with a clock of the
 * test's own (simulated_clock.c). Setting the host's clock affects every program, so that it runs only on demand:
 *
 *     CPINGER_STEP_CLOCK=1 ctest --test-dir build -R test_clock_step --output-on-failure
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recovery.h"

/* The host's clock moves by little. The test's own clock moves by more than a busy machine halts, so that the effect of a step on a
 * round trip differs from the effect of load. */
enum { DELAY_MS = 50, STEP_MS = SIMULATED_CLOCK ? 20000 : 200 };

static int64_t now_by(clockid_t clock) {
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t offset(void) {
    return now_by(CLOCK_REALTIME) - now_by(CLOCK_MONOTONIC);
}

/* The kernel adds it to the clock in one piece. */
static int shift(int64_t by_ns) {
    int64_t seconds = by_ns / 1000000000, rest = by_ns % 1000000000;
    if (rest < 0) {
        seconds--;
        rest += 1000000000;
    }
    struct timex change = {.modes = ADJ_SETOFFSET | ADJ_NANO, .time = {.tv_sec = seconds, .tv_usec = rest}};
    return clock_adjtime(CLOCK_REALTIME, &change) < 0 ? -errno : 0;
}

struct seen {
    unsigned answered, flagged, by_kernel;
    int64_t least_ns, most_ns;
};

static void take(struct seen *seen, const cping_event *event) {
    CHECK(event->kind == CPING_ANSWERED || event->kind == CPING_NOT_SENT || event->kind == CPING_FINISHED);
    if (event->kind != CPING_ANSWERED) return;
    int is_flagged = (event->flags & CPING_FLAG_CLOCK_STEP) != 0;
    if (is_flagged) CHECK(event->send_stamp == CPING_STAMP_CLOCK && event->rtt_ns == event->rtt_bound_ns);
    /* The true time, for any clock: the reflector's delay, and the delay of a busy host. */
    CHECK(event->rtt_ns >= DELAY_MS * INT64_C(1000000) && event->rtt_ns <= event->rtt_bound_ns);
    CHECK(event->rtt_bound_ns < (DELAY_MS + STEP_MS - 20) * INT64_C(1000000));
    seen->answered++;
    seen->flagged += (unsigned)is_flagged;
    seen->by_kernel += event->send_stamp == CPING_STAMP_KERNEL;
    if (event->rtt_ns < seen->least_ns) seen->least_ns = event->rtt_ns;
    if (event->rtt_ns > seen->most_ns) seen->most_ns = event->rtt_ns;
}

static void run(void) {
    static const int steps[] = {STEP_MS, -STEP_MS, -STEP_MS, STEP_MS};
    struct reflector reflector = REFLECT("--one-way", "--delay", "50");
    cping_target target = rtr_target("127.0.0.1", reflector.port, 500);
    target.interval_ns = 2000000;
    target.timeout_ns = UINT64_C(10000000000);
    struct seen seen = {.least_ns = INT64_MAX};
    cping *pinger;
    cping_stats stats;
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    for (int i = 0; i < 4; i++) {
        wait_ms(100);
        CHECK_EQUAL(shift(steps[i] * INT64_C(1000000)), 0);
    }
    for (cping_event event = {0}; event.kind != CPING_FINISHED;) {
        CHECK_EQUAL(cping_wait(pinger, 10000), 1);
        CHECK_EQUAL(cping_read(pinger, &event, 1), 1);
        take(&seen, &event);
    }
    cping_get_stats(pinger, &stats);
    printf("%u answered, %u of them flagged, %u by the kernel's stamps, round trips %.3f to %.3f ms; reflector's delay %d ms\n",
           seen.answered, seen.flagged, seen.by_kernel, (double)seen.least_ns / 1e6, (double)seen.most_ns / 1e6, DELAY_MS);
    /* The pings under way at each step: 25 on an idle host. */
    CHECK(seen.flagged >= 20 && seen.by_kernel > 0 && stats.clock_steps == seen.flagged);
    CHECK_EQUAL(stats.lost, 0);
    cping_destroy(pinger);
    reflector_stop(reflector);
}

/* Puts the clock back, even if the run fails. */
int main(void) {
    if (!SIMULATED_CLOCK && !getenv("CPINGER_STEP_CLOCK")) skip("it sets the host's clock, and does so only with CPINGER_STEP_CLOCK=1");
    int error = shift(0);
    if (error) skip(strerror(-error));
    int64_t before = offset();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(50);
        run();
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    int64_t moved = offset() - before;
    if (llabs(moved) > 1000000) CHECK_EQUAL(shift(-moved), 0);
    printf("the clock was %.3f ms off after the run, and is %.3f ms off now\n", (double)moved / 1e6,
           (double)(offset() - before) / 1e6);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
