/* Checks, a reflector in its own process, and waiting for events. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "cpinger.h"

/* Its own threads block all signals, so that no signal reaches them. */
#ifdef __SANITIZE_THREAD__
enum { HAS_THREAD_SANITIZER = 1 };
#else
enum { HAS_THREAD_SANITIZER = 0 };
#endif

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) fail_check(__FILE__, __LINE__, #condition);               \
    } while (0)
#define CHECK_EQUAL(a, b) check_equal(__FILE__, __LINE__, #a " == " #b, (long long)(a), (long long)(b))

void fail_check(const char *file, int line, const char *text);
void check_equal(const char *file, int line, const char *text, long long a, long long b);

/* "0a1b ..." to bytes; returns their number. */
size_t from_hex(const char *hex, uint8_t *bytes, size_t size);

/* Exits with 77, which ctest reports as skipped. */
void skip(const char *why);

struct reflector {
    pid_t process;
    uint16_t port;
};

/* Waits until it listens. `arguments` ends with NULL; --port 0 --secret test comes before them. */
struct reflector reflector_start(const char *const *arguments);
#define REFLECT(...) reflector_start((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})
void reflector_stop(struct reflector reflector);

/* A target at the reflector with a valid token: 10 ms, timeout 200 ms. `text` is 127.0.0.1 or ::1. */
cping_target rtr_target(const char *text, uint16_t port, uint64_t count);

/* The same with a timeout that no busy machine exceeds: for pings that must be answered. */
static inline cping_target patient(cping_target target) {
    target.timeout_ns = UINT64_C(10000000000);
    return target;
}

/* The outcomes of all slots of one target. */
struct outcome {
    unsigned answered, lost, refused, icmp_errors, not_sent, cancelled, late, duplicates, corrupt, elsewhere, finished, removed, verdicts;
    cping_event last;  /* last reply or verdict, except of slots missed on a busy machine */
    unsigned kernel_stamps;
};

/* Runs a target of a fresh pinger until it finishes and there were `expected_extra` late replies and duplicates. Slots missed
 * on a busy machine reduce that number, because they get no replies. */
struct outcome run_target(const cping_target *target, unsigned expected_extra, cping_stats *stats);
void collect(struct outcome *outcome, const cping_event *event);

#endif
