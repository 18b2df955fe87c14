#define _GNU_SOURCE
#include <errno.h>
#include <sys/random.h>

#include "engine.h"
#include "icmp.h"
#include "rtr.h"

static int is_forgettable(const cping *pinger, const cping__ping *ping, uint64_t now_ns) {
    if (ping->state != CPING__LOST && ping->state != CPING__ANSWERED) return 0;
    return now_ns > ping->sent.clocks.late_ns + ping->target->config.timeout_ns + pinger->linger_ns;
}

static void forget_old(cping *pinger, cping__target *target, uint64_t now_ns) {
    cping__ping *ping;
    while ((ping = TAILQ_FIRST(&target->pings)) && is_forgettable(pinger, ping, now_ns)) cping__forget(pinger, ping);
}

static uint64_t random_token(cping *pinger) {
    if (pinger->random_left == 0) {
        /* Up to 256 bytes are never short, once the kernel's generator is seeded. */
        if (getrandom(pinger->random, sizeof pinger->random, 0) < 0) return pinger->sequence;
        pinger->random_left = sizeof pinger->random / sizeof pinger->random[0];
    }
    return pinger->random[--pinger->random_left];
}

/* When the table is full, the target gives up remembering its oldest finished ping. */
static cping__ping *new_ping(cping *pinger, cping__target *target) {
    cping__ping *ping = cping__pending_add(&pinger->pending, ++pinger->sequence);
    cping__ping *oldest = TAILQ_FIRST(&target->pings);
    if (!ping && oldest && (oldest->state == CPING__LOST || oldest->state == CPING__ANSWERED)) {
        cping__forget(pinger, oldest);
        ping = cping__pending_add(&pinger->pending, pinger->sequence);
    }
    if (ping) ping->target = target;
    return ping;
}

static int transmit(cping__target *target, cping__ping *ping) {
    cping__channel *channel = target->channel;
    uint8_t packet[CPING__ICMP_PACKET];
    size_t length = CPING__RTR_REQUEST;
    if (target->config.protocol == CPING_RTR) {
        cping__rtr_encode(packet, ping->sequence, target->config.token);
    } else {
        length = CPING__ICMP_PACKET;
        cping__icmp_encode(packet, channel->family, channel->local_port, ping->sequence, ping->token);
    }
    ping->sent.clocks = cping__read_clocks();
    return cping__channel_send(channel, &target->config.destination, packet, length, ping->sequence);
}

/* An ICMP error about an earlier ping makes the next send fail in its place: read it, then try again. */
static int transmit_twice(cping *pinger, cping__target *target, cping__ping *ping) {
    int error = transmit(target, ping);
    if (error == 0 || error == -ENOBUFS || error == -EAGAIN) return error;
    cping__read_notices(pinger, target->channel);
    return transmit(target, ping);
}

static void send_ping(cping *pinger, cping__target *target, uint64_t slot, uint64_t slot_ns) {
    cping__ping *ping = new_ping(pinger, target);
    if (!ping) {
        cping__not_sent(pinger, target, &(cping__ping){.slot = slot, .slot_ns = slot_ns}, ENOMEM);
        return;
    }
    ping->slot = slot;
    ping->slot_ns = slot_ns;
    ping->token = random_token(pinger);
    int error = transmit_twice(pinger, target, ping);
    if (error == 0) {
        cping__open(pinger, target, ping);
    } else {
        cping__not_sent(pinger, target, ping, -error);
        cping__pending_remove(&pinger->pending, ping);
    }
}

static uint64_t slots_left(const cping__target *target) {
    return target->config.count ? target->config.count - target->slots : UINT64_MAX;
}

static void run_slots(cping *pinger, cping__target *target, uint64_t now_ns) {
    uint64_t due = cping__grid_due(&target->grid, now_ns);
    if (due == 0) return;
    /* Only the slot that `now` falls into is sent, however long the thread was held up: no bursts. */
    uint64_t missed = due - 1 < slots_left(target) ? due - 1 : slots_left(target);
    if (missed) {
        cping__missed(pinger, target, target->slots, cping__grid_time(&target->grid, target->grid.next), missed);
        target->slots += missed;
        target->grid.next += missed;
    }
    if (slots_left(target)) {
        uint64_t slot_ns = cping__grid_time(&target->grid, target->grid.next++);
        send_ping(pinger, target, target->slots++, slot_ns);
    }
    if (slots_left(target) == 0) target->phase = CPING__STOPPED;
}

static int is_overdue(const cping__target *target, uint64_t now_ns) {
    const cping__ping *ping = target->oldest_open;
    return ping && now_ns > ping->sent.clocks.late_ns + target->config.timeout_ns;
}

static void expire(cping *pinger, cping__target *target, uint64_t now_ns) {
    if (!is_overdue(target, now_ns)) return;
    /* What arrived before `now` must be read before anything is called lost. */
    cping__read_notices(pinger, target->channel);
    cping__read_datagrams(pinger, target->channel);
    while (is_overdue(target, now_ns)) cping__lost(pinger, target->oldest_open);
}

void cping__target_run(cping *pinger, cping__target *target, uint64_t now_ns) {
    if (target->phase == CPING__RUNNING) run_slots(pinger, target, now_ns);
    expire(pinger, target, now_ns);
    forget_old(pinger, target, now_ns);
    cping__target_changed(pinger, target);
}
