#include "timeline.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 16 };
#define TIMELINE_VARIATION_NS INT64_C(3600000000000)

static moment *at(const timeline *t, uint64_t slot) {
    return &t->ring[slot & (t->capacity - 1)];
}

/* ---- In order ---- */

static void list(timeline *t) {
    if (!t->outages) t->outages = malloc(TIMELINE_LISTED * sizeof *t->outages);
    if (t->outages && t->listed < TIMELINE_LISTED) t->outages[t->listed++] = t->current;
}

static void end_outage(timeline *t, uint64_t now_ns) {
    t->current.length_ns = now_ns - t->current.start_ns;
    if (t->current.pings >= t->threshold) {
        t->count++;
        t->total_ns += t->current.length_ns;
        if (t->current.length_ns > t->longest_ns) t->longest_ns = t->current.length_ns;
        list(t);
    }
    t->current = (outage){0};
}

/* A far side's clock can be wrong: a difference above an hour is not a delay variation. */
static void add_variation(histogram *h, int64_t now, int64_t before) {
    int64_t difference;
    if (__builtin_sub_overflow(now, before, &difference)) return;
    if (difference >= -TIMELINE_VARIATION_NS && difference <= TIMELINE_VARIATION_NS) histogram_add(h, llabs(difference));
}

/* RFC 3393 with the selection function "consecutive slots, both answered in time". */
static void compare(timeline *t, const moment *now) {
    if (now->rtt_ns < 0 || t->previous.slot_ns == 0 || t->previous.rtt_ns < 0) return;
    add_variation(&t->variation, now->rtt_ns, t->previous.rtt_ns);
    if (now->up_ns == 0 || t->previous.up_ns == 0 || now->is_far_restarted) return;
    add_variation(&t->up, now->up_ns, t->previous.up_ns);
    add_variation(&t->down, now->down_ns, t->previous.down_ns);
}

static void take(timeline *t, const moment *now) {
    if (now->rtt_ns == MOMENT_UNANSWERED || now->rtt_ns == MOMENT_PENDING) {
        if (t->current.pings++ == 0) t->current.start_ns = now->slot_ns;
    } else {
        if (t->current.pings) end_outage(t, now->slot_ns);
        compare(t, now);
    }
    t->previous = *now;
}

/* ---- The ring ---- */

static void advance(timeline *t) {
    take(t, at(t, t->base));
    t->base++;
}

static void drain(timeline *t) {
    while (t->base < t->end && at(t, t->base)->rtt_ns != MOMENT_PENDING) advance(t);
}

static int grow(timeline *t) {
    size_t capacity = t->capacity ? t->capacity * 2 : SMALLEST;
    moment *ring = capacity <= TIMELINE_LIMIT ? malloc(capacity * sizeof *ring) : NULL;
    if (!ring) return -1;
    for (uint64_t slot = t->base; slot < t->end; slot++) ring[slot & (capacity - 1)] = *at(t, slot);
    free(t->ring);
    t->ring = ring;
    t->capacity = capacity;
    return 0;
}

static int make_room(timeline *t, uint64_t slot) {
    while (slot - t->base >= t->capacity) {
        if (grow(t) == 0) continue;
        if (t->capacity == 0) return -1;
        if (t->base < t->end) {
            advance(t);
        } else {
            t->base = t->end = slot;
            t->previous = (moment){0};
        }
    }
    return 0;
}

void timeline_note(timeline *t, uint64_t slot, moment of_slot) {
    if (slot < t->base || make_room(t, slot) != 0) return;
    for (; t->end <= slot; t->end++) {
        /* The time of a slot in between is not known yet; the later one's is close. */
        *at(t, t->end) = (moment){.slot_ns = of_slot.slot_ns, .rtt_ns = MOMENT_PENDING};
    }
    *at(t, slot) = of_slot;
    drain(t);
}

void timeline_missed(timeline *t, uint64_t slot, uint64_t slot_ns, uint64_t interval_ns, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        timeline_note(t, slot + i, (moment){.slot_ns = slot_ns + i * interval_ns, .rtt_ns = MOMENT_UNANSWERED});
    }
}

outage timeline_open_outage(const timeline *t, uint64_t now_ns) {
    outage open = t->current;
    open.is_open = open.pings >= t->threshold;
    open.length_ns = open.is_open && now_ns > open.start_ns ? now_ns - open.start_ns : 0;
    return open;
}

void timeline_clear(timeline *t) {
    free(t->ring);
    free(t->outages);
    histogram_clear(&t->variation);
    histogram_clear(&t->up);
    histogram_clear(&t->down);
    memset(t, 0, sizeof *t);
}
