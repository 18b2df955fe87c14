#ifndef IMPAIR_OPTIONS_H
#define IMPAIR_OPTIONS_H

#include <stddef.h>

#include "profile.h"

struct side {
    char network_namespace[64];
    char interface_name[16];
};

struct options {
    struct side sides[2];  /* left, right */
    struct profile profiles[2];  /* by direction: UP is left to right */
    uint64_t seed;
    const char *log;
    double duration_s;  /* 0: until a signal */
    size_t queue;
    int priority;  /* of SCHED_FIFO; 0: the ordinary scheduler */
    int cpu;       /* -1: any */
};

/* Exits with 0 after --help, with 64 and one line on wrong usage. */
void options_read(struct options *options, int argc, char **argv);

#endif
