#include "flood.h"

#include "engine.h"

static int is_paced(const cping__target *target) {
    return target->config.interval_ns != 0;
}

/* The target's own window: half of it at once makes fewer and larger batches. */
static int has_window(const cping__target *target) {
    return target->is_flooding ? target->open < target->config.window : target->open <= target->config.window / 2;
}

/* The socket's: the same, with a batch in place of the half where it is large. */
static int has_room(const cping__channel *channel) {
    unsigned wave = channel->flood_limit / 2 < CPING__BATCH ? channel->flood_limit / 2 : CPING__BATCH;
    return channel->flood_open + wave <= channel->flood_limit;
}

/* Floods wait for a reader that is slow; `cping_read` wakes them. */
static int reader_lags(cping *pinger) {
    if (pinger->threadless || cping__ring_count(&pinger->ring) <= pinger->ring.capacity / 2) return 0;
    atomic_store(&pinger->flood_waits, 1);
    atomic_thread_fence(memory_order_seq_cst);
    /* The reader may have emptied the ring before it saw the flag. */
    return cping__ring_count(&pinger->ring) > pinger->ring.capacity / 2;
}

static int is_due(const cping__channel *channel) {
    return !TAILQ_EMPTY(&channel->flooders) && has_room(channel);
}

int cping__flood_is_due(cping *pinger) {
    const cping__channel *channel;
    LIST_FOREACH(channel, &pinger->channels, link) {
        if (is_due(channel)) return !reader_lags(pinger);
    }
    return 0;
}

uint64_t cping__flood_next(const cping__target *target) {
    return target->phase == CPING__RUNNING && target->flood_credit == 0 ? target->flood_ns : CPING__NEVER;
}

void cping__flood_changed(cping__target *target) {
    int floods = target->phase == CPING__RUNNING && target->flood_credit > 0 && has_window(target);
    if (floods == target->is_flooding) return;
    if (floods) TAILQ_INSERT_TAIL(&target->channel->flooders, target, flooder);
    else TAILQ_REMOVE(&target->channel->flooders, target, flooder);
    target->is_flooding = floods;
}

/* The number of pings that the pace allows now. A backlog of more than a batch is dropped. */
static uint32_t paced_credit(cping__target *target, uint64_t now_ns) {
    uint64_t pace_ns = target->config.interval_ns;
    uint64_t due = (now_ns - target->flood_ns) / pace_ns + 1;
    if (due > CPING__BATCH) {
        due = CPING__BATCH;
        target->flood_ns = now_ns - (CPING__BATCH - 1) * pace_ns;
    }
    target->flood_ns += due * pace_ns;
    return (uint32_t)due;
}

void cping__flood_due(cping__target *target, uint64_t now_ns) {
    if (target->flood_credit > 0 || now_ns < target->flood_ns) return;
    target->flood_credit = is_paced(target) ? paced_credit(target, now_ns) : 1;
}

void cping__flood_hold(cping__target *target, uint64_t now_ns) {
    if (is_paced(target)) return;
    target->flood_credit = 0;
    target->flood_ns = now_ns + CPING__MILLISECOND;
}

/* Not after each ping: several in a row use the caches better. */
static void end_turn(cping__channel *channel, cping__target *target) {
    if (!target->is_flooding || !TAILQ_NEXT(target, flooder)) return;
    TAILQ_REMOVE(&channel->flooders, target, flooder);
    TAILQ_INSERT_TAIL(&channel->flooders, target, flooder);
}

static void send_wave(cping *pinger, cping__channel *channel, uint64_t now_ns) {
    cping__target *target, *last = NULL;
    for (int i = 0; (target = TAILQ_FIRST(&channel->flooders)) && i < CPING__BATCH; i++) {
        if (channel->flood_open >= channel->flood_limit) break;
        last = target;
        if (is_paced(target)) target->flood_credit--;
        cping__send_slot(pinger, target, now_ns, now_ns);
        cping__target_changed(pinger, target);
    }
    if (last) end_turn(channel, last);
    cping__outbox_flush(pinger);
}

void cping__flood_run(cping *pinger, uint64_t now_ns) {
    cping__channel *channel;
    LIST_FOREACH(channel, &pinger->channels, link) {
        if (!is_due(channel)) channel->waves = 0;
        if (!is_due(channel) || !cping__has_room(pinger) || reader_lags(pinger)) {
            if (!channel->is_watched) pinger->has_unread = 1;
            continue;
        }
        send_wave(pinger, channel, now_ns);
        channel->waves++;
        if (!cping__read_datagrams(pinger, channel)) pinger->has_unread = 1;
    }
}
