#ifndef CPING_H
#define CPING_H

#include <stddef.h>
#include <stdint.h>

#include "cpinger.h"

enum { EXIT_ANSWERED = 0, EXIT_UNANSWERED = 1, EXIT_CANNOT = 2, EXIT_USAGE = 64 };

typedef struct options {
    cping_target target;  /* the settings of all targets, without their addresses */
    uint16_t port;        /* 0: ICMP */
    int is_flood, is_json, is_quiet;
    char **names;
    size_t name_count;
} options;

/* Ends the program with EXIT_USAGE or, for --help, with 0. */
void options_read(options *o, int argc, char **argv);

/* A target, and the round trips of its answered pings. The library counts the verdicts. */
typedef struct host {
    const char *name;
    char address[64];
    int64_t id;
    int64_t rtt_sum_ns, rtt_min_ns, rtt_max_ns;
} host;

void report_event(const options *o, const host *h, const cping_event *event);
void report_summary(const options *o, const host *h, const cping_target_info *info);

#endif
