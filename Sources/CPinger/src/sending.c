#define _GNU_SOURCE
#include <errno.h>
#include <sys/random.h>

#include "engine.h"

static int is_forgettable(const cping *pinger, const cping__ping *ping, uint64_t now_ns) {
    if (pinger->remembered > pinger->remembered_limit) return 1;
    return now_ns > ping->sent.clocks.late_ns + ping->target->config.timeout_ns + pinger->linger_ns;
}

static void forget_old(cping *pinger, cping__target *target, uint64_t now_ns) {
    cping__ping *ping;
    while ((ping = TAILQ_FIRST(&target->finished)) && is_forgettable(pinger, ping, now_ns)) cping__forget(pinger, ping);
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
    cping__ping *ping = cping__pending_add(&pinger->pending, ++pinger->sequence);
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
    TAILQ_INSERT_TAIL(&target->open_pings, ping, link);
    target->open++;
    cping__outbox_put(pinger, ping);
}

static uint64_t slots_left(const cping__target *target) {
    return target->config.count ? target->config.count - target->slots : UINT64_MAX;
}

static void run_grid(cping *pinger, cping__target *target, uint64_t now_ns) {
    uint64_t due = cping__grid_due(&target->grid, now_ns);
    if (due == 0) return;
    /* Only the slot that `now` falls into is sent, however long the thread was held up: no bursts. */
    uint64_t missed = due - 1 < slots_left(target) ? due - 1 : slots_left(target);
    if (missed) {
        cping__missed(pinger, target, target->slots, cping__grid_time(&target->grid, target->grid.next), missed);
        target->slots += missed;
        target->grid.next += missed;
    }
    if (slots_left(target) == 0) return;
    uint64_t slot_ns = cping__grid_time(&target->grid, target->grid.next++);
    uint64_t slot = target->slots++;
    send_ping(pinger, target, slot, slot_ns, now_ns);
}

/* How many pings the pace allows now. What could not be made up for within a batch is let go. */
static uint64_t allowance(cping__target *target, uint64_t now_ns) {
    if (now_ns < target->flood_ns) return 0;
    uint64_t pace_ns = target->config.interval_ns;
    if (pace_ns == 0) return CPING__BATCH;
    uint64_t due = (now_ns - target->flood_ns) / pace_ns + 1;
    if (due <= CPING__BATCH) return due;
    target->flood_ns = now_ns - (CPING__BATCH - 1) * pace_ns;
    return CPING__BATCH;
}

static void run_flood(cping *pinger, cping__target *target, uint64_t now_ns) {
    uint64_t count = allowance(target, now_ns);
    uint64_t room = target->open < target->config.window ? target->config.window - target->open : 0;
    if (count > room) count = room;
    if (count > slots_left(target)) count = slots_left(target);
    uint64_t refused = target->totals.not_sent;
    for (uint64_t i = 0; i < count; i++) send_ping(pinger, target, target->slots++, now_ns, now_ns);
    if (target->config.interval_ns) target->flood_ns += count * target->config.interval_ns;
    /* Others get their turn first. Where nothing can be sent, slots are not burnt at the speed of light. */
    else target->flood_ns = target->totals.not_sent > refused ? now_ns + CPING__MILLISECOND : now_ns + 1;
}

static int is_overdue(const cping__target *target, uint64_t now_ns) {
    const cping__ping *ping = TAILQ_FIRST(&target->open_pings);
    return ping && now_ns > ping->sent.clocks.late_ns + target->config.timeout_ns;
}

static void expire(cping *pinger, cping__target *target, uint64_t now_ns) {
    if (!is_overdue(target, now_ns)) return;
    /* What arrived before `now` must be read before anything is called lost. */
    cping__outbox_flush(pinger);
    cping__read_notices(pinger, target->channel);
    cping__read_datagrams(pinger, target->channel);
    while (is_overdue(target, now_ns) && cping__has_room(pinger)) cping__lost(pinger, TAILQ_FIRST(&target->open_pings));
}

void cping__target_run(cping *pinger, cping__target *target, uint64_t now_ns) {
    if (target->phase == CPING__RUNNING && cping__has_room(pinger)) {
        if (target->config.flags & CPING_TARGET_FLOOD) run_flood(pinger, target, now_ns);
        else run_grid(pinger, target, now_ns);
        if (slots_left(target) == 0) target->phase = CPING__STOPPED;
    }
    expire(pinger, target, now_ns);
    forget_old(pinger, target, now_ns);
    cping__target_changed(pinger, target);
}
