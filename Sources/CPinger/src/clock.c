#define _GNU_SOURCE
#include "clock.h"

#include <time.h>

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * CPING__SECOND + (uint64_t)t.tv_nsec;
}

uint64_t cping__now(void) {
    return nanoseconds(CLOCK_BOOTTIME);
}

cping__reading cping__read_clocks(void) {
    cping__reading reading = {0};
    /* A reading that was interrupted between its clocks is taken again. */
    for (int attempt = 0; attempt < 3; attempt++) {
        uint64_t early = nanoseconds(CLOCK_BOOTTIME);
        uint64_t real = nanoseconds(CLOCK_REALTIME);
        reading.late_ns = nanoseconds(CLOCK_BOOTTIME);
        if (attempt == 0) reading.early_ns = early;
        reading.width_ns = reading.late_ns - early;
        reading.offset_ns = (int64_t)(real - (early + reading.width_ns / 2));
        if (reading.width_ns < 5 * CPING__MICROSECOND) break;
    }
    return reading;
}
