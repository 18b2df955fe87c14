/* Events on their way to the reader. Everything that makes some stands above this file. */
#include "engine.h"

#include <sys/eventfd.h>

/* The most events written at once without a check for room. */
enum { ROOM = 4 * CPING__HAUL };

int cping__has_room(const cping *pinger) {
    return !pinger->threadless || pinger->stopping || cping__ring_count(&pinger->ring) + ROOM <= pinger->ring.capacity;
}

void cping__emit(cping *pinger, const cping_event *event) {
    if (!cping__ring_write(&pinger->ring, event)) CPING__COUNT(pinger, dropped_events);
    pinger->has_news = 1;
}

void cping__tell_reader(cping *pinger) {
    /* Either this finds the descriptor cleared, or the reader, who clears it first, finds the event (clear_signal). */
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_exchange(&pinger->is_signalled, 1)) eventfd_write(pinger->event_fd, 1);
}

void cping__tell_news(cping *pinger) {
    if (cping__ring_report(&pinger->ring)) pinger->has_news = 1;
    if (!pinger->has_news) return;
    pinger->has_news = 0;
    if (!pinger->threadless) cping__tell_reader(pinger);
}

cping_event cping__event_at(const cping__target *target, const cping__ping *ping, enum cping_kind kind, uint64_t event_ns) {
    cping_event event = {.target = target->id, .kind = kind, .event_ns = event_ns, .rtt_ns = -1, .rtt_bound_ns = -1,
                         .count = 1};
    if (ping) {
        event.slot = ping->slot;
        event.slot_ns = ping->slot_ns;
        event.sent_ns = ping->sent.clocks.late_ns;
        event.sequence = ping->sequence;
    }
    return event;
}

cping_event cping__event(const cping__target *target, const cping__ping *ping, enum cping_kind kind) {
    return cping__event_at(target, ping, kind, cping__now());
}
