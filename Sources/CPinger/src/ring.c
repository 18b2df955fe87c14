#include "ring.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"

int cping__ring_create(cping__ring *ring, uint32_t capacity) {
    if (capacity > 1u << 20) return -EINVAL;
    uint32_t rounded = 2;
    while (rounded < capacity) rounded *= 2;
    *ring = (cping__ring){.slots = calloc(rounded, sizeof *ring->slots), .capacity = rounded};
    return ring->slots ? 0 : -ENOMEM;
}

void cping__ring_touch(cping__ring *ring) {
    volatile char *bytes = (volatile char *)ring->slots;
    for (size_t i = 0; i < ring->capacity * sizeof *ring->slots; i += 4096) bytes[i] = 0;
}

void cping__ring_destroy(cping__ring *ring) {
    free(ring->slots);
}

size_t cping__ring_count(const cping__ring *ring) {
    uint32_t read = atomic_load_explicit(&ring->read, memory_order_acquire);
    return atomic_load_explicit(&ring->written, memory_order_acquire) - read;
}

static void put(cping__ring *ring, const cping_event *event) {
    uint32_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    ring->slots[written & (ring->capacity - 1)] = *event;
    atomic_store_explicit(&ring->written, written + 1, memory_order_release);
}

int cping__ring_report(cping__ring *ring) {
    uint64_t dropped = atomic_load_explicit(&ring->dropped, memory_order_relaxed);
    if (dropped == 0 || cping__ring_count(ring) == ring->capacity) return 0;
    put(ring, &(cping_event){.kind = CPING_OVERFLOW,
                             .event_ns = cping__now(),
                             .rtt_ns = -1,
                             .rtt_bound_ns = -1,
                             .count = dropped});
    atomic_store_explicit(&ring->dropped, 0, memory_order_relaxed);
    return 1;
}

int cping__ring_write(cping__ring *ring, const cping_event *event) {
    cping__ring_report(ring);
    if (cping__ring_count(ring) == ring->capacity) {
        atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
        return 0;
    }
    put(ring, event);
    return 1;
}

size_t cping__ring_read(cping__ring *ring, cping_event *buffer, size_t capacity) {
    size_t count = cping__ring_count(ring);
    if (count > capacity) count = capacity;
    uint32_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
    for (size_t i = 0; i < count; i++) buffer[i] = ring->slots[(read + i) & (ring->capacity - 1)];
    atomic_store_explicit(&ring->read, read + (uint32_t)count, memory_order_release);
    return count;
}
