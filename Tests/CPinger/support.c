#define _GNU_SOURCE
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "token.h"

void fail_check(const char *file, int line, const char *text) {
    fprintf(stderr, "%s:%d: %s\n", file, line, text);
    exit(1);
}

void check_equal(const char *file, int line, const char *text, long long a, long long b) {
    if (a == b) return;
    fprintf(stderr, "%s:%d: %s: %lld and %lld\n", file, line, text, a, b);
    exit(1);
}

size_t from_hex(const char *hex, uint8_t *bytes, size_t size) {
    size_t count = 0;
    unsigned value;
    int used;
    while (count < size && sscanf(hex, " %2x%n", &value, &used) == 1) {
        bytes[count++] = (uint8_t)value;
        hex += used;
    }
    return count;
}

void skip(const char *why) {
    fprintf(stderr, "skipped: %s\n", why);
    exit(77);
}

static void exec_reflector(const char *const *arguments, int output) {
    const char *argv[32] = {"reflector", "--port", "0", "--secret", "test"};
    size_t count = 5;
    while (*arguments && count < 31) argv[count++] = *arguments++;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, 1);
    execv(REFLECTOR, (char *const *)argv);
    _exit(127);
}

struct reflector reflector_start(const char *const *arguments) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    struct reflector reflector = {.process = fork()};
    CHECK(reflector.process >= 0);
    if (reflector.process == 0) exec_reflector(arguments, ends[1]);
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    char line[128];
    CHECK(fgets(line, sizeof line, output) != NULL);
    CHECK(strncmp(line, "reflector: listening on ", 24) == 0);
    reflector.port = (uint16_t)atoi(strrchr(line, ':') + 1);
    CHECK(fgets(line, sizeof line, output) != NULL);
    CHECK_EQUAL(atoi(strrchr(line, ':') + 1), reflector.port);
    fclose(output);
    return reflector;
}

void reflector_stop(struct reflector reflector) {
    int status;
    kill(reflector.process, SIGTERM);
    CHECK(waitpid(reflector.process, &status, 0) == reflector.process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

cping_target rtr_target(const char *text, uint16_t port, uint64_t count) {
    cping_target target = {.protocol = CPING_RTR, .interval_ns = 10000000, .timeout_ns = 200000000, .count = count};
    CHECK(cping_address_parse(&target.destination, text, port) == 0);
    uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (target.destination.family == 4) memcpy(mapped + 12, target.destination.bytes, 4);
    else memcpy(mapped, target.destination.bytes, 16);
    token_mint(target.token, mapped, (uint32_t)time(NULL), "test");
    return target;
}

void collect(struct outcome *o, const cping_event *event) {
    if (event->kind < CPING_LATE) o->verdicts += (unsigned)event->count;
    int missed = event->kind == CPING_NOT_SENT && event->error == ETIME;
    if (event->kind < CPING_FINISHED && !missed) o->last = *event;
    if (event->send_stamp == CPING_STAMP_KERNEL) o->kernel_stamps++;
    switch (event->kind) {
    case CPING_ANSWERED: o->answered++; break;
    case CPING_LOST: o->lost++; break;
    case CPING_REFUSED: o->refused++; break;
    case CPING_ICMP_ERROR: o->icmp_errors++; break;
    case CPING_NOT_SENT: o->not_sent += (unsigned)event->count; break;
    case CPING_CANCELLED: o->cancelled++; break;
    case CPING_LATE: o->late++; break;
    case CPING_DUPLICATE: o->duplicates++; break;
    case CPING_CORRUPT: o->corrupt++; break;
    case CPING_ELSEWHERE: o->elsewhere++; break;
    case CPING_FINISHED: o->finished++; break;
    case CPING_REMOVED: o->removed++; break;
    case CPING_OVERFLOW: CHECK(0); break;
    }
    if (event->rtt_ns >= 0) CHECK(event->rtt_ns <= event->rtt_bound_ns + 1000);
}

struct outcome run_target(const cping_target *target, unsigned expected_extra, cping_stats *stats) {
    struct outcome outcome = {0};
    cping *pinger;
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    while (!outcome.finished || outcome.late + outcome.duplicates + outcome.not_sent < expected_extra) {
        cping_event events[16];
        CHECK_EQUAL(cping_wait(pinger, 10000), 1);
        size_t count = cping_read(pinger, events, 16);
        for (size_t i = 0; i < count; i++) collect(&outcome, &events[i]);
    }
    if (stats) cping_get_stats(pinger, stats);
    cping_destroy(pinger);
    return outcome;
}
