#define _GNU_SOURCE
#include <errno.h>
#include <sys/random.h>

#include "engine.h"

void cping__forget_surplus(cping *pinger) {
    while (pinger->remembered > pinger->remembered_limit) cping__forget(pinger, TAILQ_FIRST(&pinger->finished));
}

static int is_old(const cping *pinger, const cping__ping *ping) {
    return pinger->read_until_ns > ping->sent.clocks.late_ns + ping->target->config.timeout_ns + pinger->linger_ns;
}

void cping__forget_old(cping *pinger) {
    for (cping__ping *ping; (ping = TAILQ_FIRST(&pinger->finished)) && is_old(pinger, ping);) cping__forget(pinger, ping);
}

uint64_t cping__random(cping *pinger) {
    if (pinger->random_left == 0) {
        /* Up to 256 bytes are never short, once the kernel's generator is seeded. */
        if (getrandom(pinger->random, sizeof pinger->random, 0) < 0) return pinger->sequence;
        pinger->random_left = sizeof pinger->random / sizeof pinger->random[0];
    }
    return pinger->random[--pinger->random_left];
}

static void send_ping(cping *pinger, cping__target *target, uint64_t slot, uint64_t slot_ns, uint64_t now_ns) {
    /* The sequence wrapped if a remembered ping has the same number. */
    while (cping__pending_find(&pinger->pending, ++pinger->sequence)) {}
    cping__ping *ping = cping__pending_add(&pinger->pending, pinger->sequence);
    if (!ping) {
        cping__no_memory(pinger, target, slot, slot_ns);
        return;
    }
    ping->target = target;
    ping->slot = slot;
    ping->slot_ns = slot_ns;
    ping->number = ++target->number;
    ping->token = cping__random(pinger);
    ping->sent.clocks.late_ns = now_ns;
    cping__place_enter(ping);
    TAILQ_INSERT_TAIL(&target->open_pings, ping, link);
    cping__opened(target);
    cping__outbox_put(pinger, ping);
}

void cping__send_slot(cping *pinger, cping__target *target, uint64_t slot_ns, uint64_t now_ns) {
    uint64_t slot = target->slots++;
    if (target->slots == target->config.count) target->phase = CPING__STOPPED;
    send_ping(pinger, target, slot, slot_ns, now_ns);
}

static uint64_t slots_left(const cping__target *target) {
    return target->config.count ? target->config.count - target->slots : UINT64_MAX;
}

static void run_grid(cping *pinger, cping__target *target, uint64_t now_ns) {
    uint64_t due = cping__grid_due(&target->grid, now_ns);
    if (due == 0) return;
    /* Only the present slot is sent, however long the thread was delayed: no bursts. */
    uint64_t missed = due - 1 < slots_left(target) ? due - 1 : slots_left(target);
    if (missed) {
        cping__missed(pinger, target, target->slots, cping__grid_time(&target->grid, target->grid.next), missed);
        target->slots += missed;
        target->grid.next += missed;
    }
    if (slots_left(target) == 0) target->phase = CPING__STOPPED;
    else cping__send_slot(pinger, target, cping__grid_time(&target->grid, target->grid.next++), now_ns);
}

static int is_overdue(const cping__target *target, uint64_t now_ns) {
    const cping__ping *ping = TAILQ_FIRST(&target->open_pings);
    return ping && now_ns > ping->sent.clocks.late_ns + target->config.timeout_ns;
}

static void expire(cping *pinger, cping__target *target, uint64_t now_ns) {
    if (!is_overdue(target, now_ns)) return;
    cping__outbox_flush(pinger);
    if (!cping__read_arrived(pinger, target->channel, now_ns)) return;
    while (is_overdue(target, now_ns) && cping__has_room(pinger)) cping__lost(pinger, TAILQ_FIRST(&target->open_pings));
}

void cping__target_run(cping *pinger, cping__target *target, uint64_t now_ns) {
    cping__agenda_set(&pinger->agenda, &target->entry, CPING__NEVER);
    if (target->phase == CPING__RUNNING && cping__has_room(pinger)) {
        if (cping__floods(target)) cping__flood_due(target, now_ns);
        else run_grid(pinger, target, now_ns);
    }
    expire(pinger, target, now_ns);
    cping__target_changed(pinger, target);
}
