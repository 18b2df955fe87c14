/* Counts of durations in bounded memory, log-linear: 128 buckets an octave, so that a percentile is exact to 0.4 %.
 * (HdrHistogram does the same for the Swift half; its C library is not in Debian, and this is all that is needed of it.) */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_OCTAVES = 48, HISTOGRAM_BUCKETS = 128 };  /* up to three days in nanoseconds */

/* Zeroes at first. An octave takes 512 bytes once something falls into it: a target usually has two to four. */
typedef struct histogram {
    uint32_t *octaves[HISTOGRAM_OCTAVES];
    uint64_t count;
    int64_t sum, min, max;
} histogram;

/* What does not fit (memory, 2^32 of one bucket) is in count, mean, min and max all the same. Negative values count as 0. */
void histogram_add(histogram *h, int64_t value);

/* The value that `percent` of all do not exceed (nearest rank), at least min and at most max; 0 if there are none. */
int64_t histogram_percentile(const histogram *h, double percent);
int64_t histogram_mean(const histogram *h);
void histogram_clear(histogram *h);

#endif
