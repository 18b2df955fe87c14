#include "histogram.h"

#include <stdlib.h>
#include <string.h>

/* Octave 0 holds 0 to 1023 one by one; octave n > 0 holds 1024 * 2^(n-1) up to twice that, in 1024 equal parts. */
static int octave_of(uint64_t value) {
    return value < HISTOGRAM_BUCKETS ? 0 : 64 - __builtin_clzll(value) - 10;
}

static unsigned bucket_of(uint64_t value, int octave) {
    return octave == 0 ? (unsigned)value : (unsigned)(value >> (octave - 1)) - HISTOGRAM_BUCKETS;
}

/* The middle of a bucket. */
static int64_t value_of(int octave, unsigned bucket) {
    if (octave == 0) return bucket;
    int64_t width = INT64_C(1) << (octave - 1);
    return (int64_t)(bucket + HISTOGRAM_BUCKETS) * width + width / 2;
}

static uint32_t *find_bucket(histogram *h, int octave, unsigned bucket) {
    histogram_octave **whole = &h->octaves[octave];
    if (!*whole) *whole = calloc(1, sizeof **whole);
    if (!*whole) return NULL;
    uint32_t **chunk = &(*whole)->chunks[bucket / HISTOGRAM_CHUNK];
    if (!*chunk) *chunk = calloc(HISTOGRAM_CHUNK, sizeof **chunk);
    return *chunk ? *chunk + bucket % HISTOGRAM_CHUNK : NULL;
}

static void note(histogram *h, uint64_t value) {
    int octave = octave_of(value);
    if (octave >= HISTOGRAM_OCTAVES) return;
    uint32_t *bucket = find_bucket(h, octave, bucket_of(value, octave));
    if (bucket && *bucket < UINT32_MAX) ++*bucket;
}

void histogram_add(histogram *h, int64_t value) {
    if (value < 0) value = 0;
    if (h->count == 0 || value < h->min) h->min = value;
    if (value > h->max) h->max = value;
    h->count++;
    h->sum += value;
    note(h, (uint64_t)value);
}

static int64_t clamp(const histogram *h, int64_t value) {
    return value < h->min ? h->min : value > h->max ? h->max : value;
}

int64_t histogram_percentile(const histogram *h, double percent) {
    double exact = (double)h->count * percent / 100;
    uint64_t rank = (uint64_t)exact, seen = 0;
    if ((double)rank < exact || rank == 0) rank++;
    for (int octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
        for (unsigned chunk = 0; h->octaves[octave] && chunk < HISTOGRAM_CHUNKS; chunk++) {
            const uint32_t *counts = h->octaves[octave]->chunks[chunk];
            for (unsigned i = 0; counts && i < HISTOGRAM_CHUNK; i++) {
                seen += counts[i];
                if (seen >= rank) return clamp(h, value_of(octave, chunk * HISTOGRAM_CHUNK + i));
            }
        }
    }
    return h->max;
}

int64_t histogram_mean(const histogram *h) {
    return h->count ? h->sum / (int64_t)h->count : 0;
}

void histogram_clear(histogram *h) {
    for (int octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
        for (int i = 0; h->octaves[octave] && i < HISTOGRAM_CHUNKS; i++) free(h->octaves[octave]->chunks[i]);
        free(h->octaves[octave]);
    }
    memset(h, 0, sizeof *h);
}
