#include "profile.h"

#include <math.h>

/* One independent draw for each purpose and packet. */
enum purpose { LOSS, DUPLICATE, REORDER, HOLD, CORRUPT, CORRUPT_FIXED, BIT, JITTER, JITTER_2, PURPOSES };

/* splitmix64's finaliser. */
static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

struct source {
    uint64_t key;
};

static uint64_t draw(struct source source, enum purpose purpose) {
    return mix(source.key + (uint64_t)purpose * UINT64_C(0xd1342543de82ef95));
}

/* In (0, 1). */
static double fraction(struct source source, enum purpose purpose) {
    return ((double)(draw(source, purpose) >> 11) + 0.5) / 9007199254740992.0;
}

static bool happens(struct source source, enum purpose purpose, double percent) {
    return fraction(source, purpose) * 100 < percent;
}

static double jitter_factor(const struct profile *profile, struct source source) {
    double u = fraction(source, JITTER);
    switch (profile->distribution) {
    case UNIFORM:
        return 2 * u - 1;
    case EXPONENTIAL:
        return -log(u);
    case NORMAL: {  /* Box-Muller, cut at four sigma */
        double value = sqrt(-2 * log(u)) * cos(6.283185307179586 * fraction(source, JITTER_2));
        return fmax(-4, fmin(4, value));
    }
    }
    return 0;
}

static int64_t delay(const struct profile *profile, struct source source) {
    double value = (double)profile->delay_ns;
    if (profile->jitter_ns) value += (double)profile->jitter_ns * jitter_factor(profile, source);
    return value > 0 ? (int64_t)value : 0;
}

struct fate profile_fate(const struct profile *profile, uint64_t seed, enum direction direction, uint64_t number) {
    struct source source = {mix(mix(seed * 2 + (uint64_t)direction) ^ number)};
    struct fate fate = {
        .lost = happens(source, LOSS, profile->loss),
        .duplicated = happens(source, DUPLICATE, profile->duplicate.percent),
        .reordered = happens(source, REORDER, profile->reorder.percent),
        .held = happens(source, HOLD, profile->hold.percent),
        .corrupt = happens(source, CORRUPT, profile->corrupt),
        .corrupt_fixed = happens(source, CORRUPT_FIXED, profile->corrupt_fixed),
        .delay_ns = delay(profile, source),
        .random = draw(source, BIT),
    };
    if (fate.corrupt) fate.corrupt_fixed = false;
    if (fate.reordered) fate.delay_ns += profile->reorder.by_ns;
    if (fate.held) fate.delay_ns += profile->hold.by_ns;
    fate.copy_delay_ns = fate.delay_ns + profile->duplicate.by_ns;
    return fate;
}
