#ifndef IMPAIR_PROFILE_H
#define IMPAIR_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

enum direction { UP = 0, DOWN = 1 };

enum distribution { UNIFORM, NORMAL, EXPONENTIAL };

/* A chance and what it costs those it hits. */
struct chance {
    double percent;
    int64_t by_ns;
};

/* What one direction does to packets. */
struct profile {
    int64_t delay_ns;
    int64_t jitter_ns;
    enum distribution distribution;
    bool keep_order;
    double loss, corrupt, corrupt_fixed;  /* percent */
    struct chance duplicate, reorder, hold;
};

/* What happens to one packet. */
struct fate {
    bool lost, duplicated, reordered, held, corrupt, corrupt_fixed;
    int64_t delay_ns;        /* of the packet */
    int64_t copy_delay_ns;   /* of its copy, if it is duplicated */
    uint64_t random;         /* picks the bit that flips */
};

/* The fate of the `number`th packet (from 0) of a direction. It depends on nothing else: the same seed gives the same
 * fates whatever the other direction carries and however the packets are timed, and switching one impairment on does not
 * move the others. */
struct fate profile_fate(const struct profile *profile, uint64_t seed, enum direction direction, uint64_t number);

#endif
