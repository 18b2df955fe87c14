#pragma once

#include <stdint.h>

#define CPING__MICROSECOND UINT64_C(1000)
#define CPING__MILLISECOND UINT64_C(1000000)
#define CPING__SECOND UINT64_C(1000000000)
#define CPING__NEVER UINT64_MAX

/* CLOCK_BOOTTIME, and the lead of CLOCK_REALTIME over it. Both are slewed alike, so the lead changes only when the wall clock is set: two
 * readings show whether it was set between them. */
typedef struct cping__reading {
    uint64_t early_ns;  /* BOOTTIME when the reading began */
    uint64_t late_ns;   /* BOOTTIME when it was done */
    int64_t offset_ns;  /* REALTIME - BOOTTIME */
    uint64_t width_ns;  /* the offset is this uncertain */
} cping__reading;

uint64_t cping__now(void);
cping__reading cping__read_clocks(void);
