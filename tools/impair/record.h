#ifndef IMPAIR_RECORD_H
#define IMPAIR_RECORD_H

#include <stdio.h>

#include "queue.h"

enum { ERROR_BUCKETS = 20001 };  /* of 1 µs; the last is "20 ms or more" */

struct direction_counts {
    uint64_t in, out, lost, duplicated, reordered, held, corrupt, corrupt_fixed, refused, queue_full;
};

/* The log and the counters behind its last line. */
struct record {
    FILE *log;  /* NULL: none */
    struct direction_counts counts[2];
    uint64_t errors[ERROR_BUCKETS];
    uint64_t error_count;
    int64_t error_max_ns;
};

void record_lost(struct record *record, const struct parcel *parcel);
/* `error` is a positive errno if the interface refused the packet, otherwise 0. */
void record_out(struct record *record, const struct parcel *parcel, struct times out, int error);
void record_summary(struct record *record, FILE *file);

#endif
