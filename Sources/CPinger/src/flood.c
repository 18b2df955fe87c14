#include "flood.h"

#include "engine.h"

/* The socket's window: half of it at once makes fewer and larger batches, or a batch where that is less. */
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
        if (cping__is_paced(target)) target->flood_credit--;
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
