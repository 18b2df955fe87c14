/* A log-linear histogram of durations in bounded memory: 1024 buckets an octave, so a percentile is exact to 0.05 %.
 * (The Swift half uses HdrHistogram, whose C library is not in Debian.) */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

/* Up to six days in nanoseconds. Buckets are allocated in chunks. */
enum { HISTOGRAM_OCTAVES = 40, HISTOGRAM_CHUNKS = 32, HISTOGRAM_CHUNK = 32, HISTOGRAM_BUCKETS = HISTOGRAM_CHUNKS * HISTOGRAM_CHUNK };

/* A chunk is 3 % wide and takes 128 bytes, the table of an octave's chunks 256: steady durations take little memory, and all
 * values of an octave 4 KiB. */
typedef struct histogram_octave {
    uint32_t *chunks[HISTOGRAM_CHUNKS];
} histogram_octave;

/* Zeroes at first. */
typedef struct histogram {
    histogram_octave *octaves[HISTOGRAM_OCTAVES];
    uint64_t count;
    int64_t sum, min, max;
} histogram;

/* Without memory, and beyond 2^32 values of a bucket, a value counts in count, mean, min and max only. Negative values count as 0. */
void histogram_add(histogram *h, int64_t value);

/* The value that `percent` of all do not exceed (nearest rank), at least min and at most max; 0 if there are none. */
int64_t histogram_percentile(const histogram *h, double percent);
int64_t histogram_mean(const histogram *h);
void histogram_clear(histogram *h);

#endif
