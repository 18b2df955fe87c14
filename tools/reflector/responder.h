/* What to answer, and when: the decision table of the RTR server, then the faults. */
#ifndef REFLECTOR_RESPONDER_H
#define REFLECTOR_RESPONDER_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"

struct counters {
    uint64_t requests, malformed, expired, unknown_token, dead, dropped, ok, re01, duplicates, wrong_sequence, short_replies,
        unknown_magic, other_port, send_errors;
};

struct responder {
    const struct options *options;
    uint64_t random;
    int re01_armed;  /* the next valid request gets RE01 */
    struct counters counters;
};

struct answer {
    uint8_t bytes[8];
    size_t length;  /* 0: silence */
    int copies;
    int other_port;
};

void responder_init(struct responder *responder, const struct options *options);

/* `address` as 16 bytes; `now` in Unix seconds; `elapsed` in seconds since the start of the program. */
struct answer responder_answer(struct responder *responder, const uint8_t *request, size_t length,
                               const uint8_t address[16], int64_t now, double elapsed);

#endif
