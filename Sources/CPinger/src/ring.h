/* A bounded queue of events from one writing to one reading thread. Events that do not fit are counted, and reported when there is room. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "cpinger.h"

typedef struct cping__ring {
    cping_event *slots;
    uint32_t capacity;  /* a power of two */
    _Atomic uint32_t written;
    _Atomic uint32_t read;
    _Atomic uint64_t dropped;  /* since the last CPING_OVERFLOW */
} cping__ring;

int cping__ring_create(cping__ring *ring, uint32_t capacity);

/* Touches all of its memory now: otherwise the process grows until the ring has been filled once. */
void cping__ring_touch(cping__ring *ring);
void cping__ring_destroy(cping__ring *ring);

/* Writer. Returns 1 if the event went in, 0 if it was dropped. */
int cping__ring_write(cping__ring *ring, const cping_event *event);

/* Writer: reports dropped events as soon as there is room. Returns 1 if it wrote. */
int cping__ring_report(cping__ring *ring);

/* Reader. */
size_t cping__ring_read(cping__ring *ring, cping_event *buffer, size_t capacity);

/* Either. */
size_t cping__ring_count(const cping__ring *ring);
