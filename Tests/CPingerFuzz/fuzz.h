/* Shared by all fuzz targets. A target is one file fuzz_NAME.c with its seeds in corpus/NAME. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOLDS(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                       \
        }                                                                                  \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the input in order; zeroes follow its end. */
typedef struct feed {
    const uint8_t *bytes;
    size_t left;
} feed;

static inline uint8_t feed_byte(feed *input) {
    if (input->left == 0) return 0;
    input->left--;
    return *input->bytes++;
}

static inline uint16_t feed_16(feed *input) {
    uint8_t high = feed_byte(input);
    return (uint16_t)(high << 8 | feed_byte(input));
}

static inline void feed_bytes(feed *input, void *to, size_t count) {
    size_t there = count < input->left ? count : input->left;
    if (there) memcpy(to, input->bytes, there);
    memset((uint8_t *)to + there, 0, count - there);
    input->bytes += there;
    input->left -= there;
}

/* Makes the compiler's sanitizers check each byte. */
static inline void touch(const void *bytes, size_t count) {
    uint8_t sum = 0;
    for (size_t i = 0; i < count; i++) sum ^= ((const uint8_t *)bytes)[i];
    /* A use that no optimizer removes and no compiler reports as unused. */
    __asm__ volatile("" : : "r"(sum));
}

#endif
