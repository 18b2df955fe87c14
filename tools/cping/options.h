#ifndef OPTIONS_H
#define OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "cpinger.h"

enum { EXIT_ANSWERED = 0, EXIT_UNANSWERED = 1, EXIT_CANNOT = 2, EXIT_USAGE = 64 };

typedef struct options {
    cping_target target;  /* the common settings of all targets, with the port and family of `destination` */
    uint32_t pinger_flags;
    size_t threads;
    const char *source;
    const char *file;     /* of targets, "-": standard input */
    uint64_t deadline_ns, linger_ns;  /* 0: none */
    uint64_t outage_pings;
    uint64_t silence_ns;  /* after which a name is resolved again */
    uint32_t remembered;  /* 0: the library's default */
    uint16_t port;
    int family;           /* 0: either */
    int json, quiet, verbose;
    int has_interval;
    int realtime;  /* the given option; 0: neither */
    char **names;
    size_t name_count;
} options;

/* Ends the program with EXIT_USAGE or, for --help and --version, with 0. */
void options_read(options *o, int argc, char **argv);

#endif
