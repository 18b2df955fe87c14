/* Puts verdicts, which come in any order, in the order of slots, for outages and delay variation. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "histogram.h"

/* The largest number of slots that wait for an earlier one's verdict. Beyond that (a million pings a second with a long timeout), the
 * earlier one counts as unanswered here, before its verdict. */
enum { TIMELINE_LIMIT = 16384 };

/* The result of a slot. One-way only: `up_ns` and `down_ns`, and whether the far side restarted. */
typedef struct moment {
    uint64_t slot_ns;
    int64_t rtt_ns;  /* or one of the following */
    int64_t up_ns, down_ns;
    int is_far_restarted;
} moment;

enum { MOMENT_PENDING = -1, MOMENT_UNANSWERED = -2, MOMENT_REFUSED = -3 };

/* From the first of several slots without an answer to the next one that was answered. */
typedef struct outage {
    uint64_t start_ns, length_ns, pings;
    int is_open;
} outage;

typedef struct timeline {
    moment *ring;
    size_t capacity;
    uint64_t base, end;  /* slots in the ring: from `base` up to but not including `end` */
    moment previous;     /* that of slot base - 1 */
    outage current;      /* pings > 0: slots without an answer right before `base` */
    uint64_t threshold;  /* the number of consecutive slots that make an outage */
    outage *outages;     /* the first ones; all are in the sums */
    size_t listed;
    uint64_t count, longest_ns, total_ns;
    histogram variation, up, down;  /* |IPDV| of the round trip, and of each direction */
} timeline;

enum { TIMELINE_LISTED = 100 };

void timeline_note(timeline *t, uint64_t slot, moment of_slot);

/* Several slots that were missed in a row. */
void timeline_missed(timeline *t, uint64_t slot, uint64_t slot_ns, uint64_t interval_ns, uint64_t count);

/* The present outage, up to `now_ns`; without pings when there is none. */
outage timeline_open_outage(const timeline *t, uint64_t now_ns);
void timeline_clear(timeline *t);

#endif
