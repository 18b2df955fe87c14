#ifndef IMPAIR_PROFILE_H
#define IMPAIR_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

enum direction { UP = 0, DOWN = 1 };

enum distribution { UNIFORM, NORMAL, EXPONENTIAL };

/* A chance, and the delay of the packets that it hits. */
struct chance {
    double percent;
    int64_t by_ns;
};

/* The impairments of one direction. */
struct profile {
    int64_t delay_ns;
    int64_t jitter_ns;
    enum distribution distribution;
    bool keep_order;
    double loss, corrupt, corrupt_fixed;  /* percent */
    struct chance duplicate, reorder, hold;
};

/* The impairments of one packet. */
struct fate {
    bool lost, duplicated, reordered, held, corrupt, corrupt_fixed;
    int64_t delay_ns;        /* of the packet */
    int64_t copy_delay_ns;   /* of its copy, if it is duplicated */
    uint64_t random;         /* picks the bit that flips */
};

/* The fate of the `number`th packet (from 0) of a direction. It depends only on the arguments: the other direction and the
 * packets' timing do not change it, and enabling one impairment does not shift the others. */
struct fate profile_fate(const struct profile *profile, uint64_t seed, enum direction direction, uint64_t number);

#endif
