#define _GNU_SOURCE
#include "outbox.h"

#include <errno.h>
#include <poll.h>

#include "address.h"
#include "engine.h"
#include "icmp.h"
#include "oneway.h"
#include "rtr.h"
#include "udpecho.h"

static size_t length_of(const cping_target *config) {
    if (config->protocol == CPING_RTR) return CPING__RTR_REQUEST;
    return config->protocol == CPING_ICMP ? (size_t)CPING__ICMP_HEADER + config->size : config->size;
}

static void encode(const cping__ping *ping, uint8_t *packet, size_t length) {
    const cping__target *target = ping->target;
    cping__oneway_key key = {.number = ping->number, .sequence = ping->sequence, .token = ping->token,
                             .session = target->session};
    cping__udpecho_key echo = {.sequence = ping->sequence, .token = ping->token, .port = target->config.destination.port};
    switch (target->config.protocol) {
    case CPING_RTR: cping__rtr_encode(packet, ping->sequence, target->config.token); break;
    case CPING_ICMP:
        cping__icmp_encode(packet, target->config.size, target->channel->key.family, target->channel->local_port,
                           ping->sequence, ping->token);
        break;
    case CPING_ONEWAY: cping__oneway_encode(packet, length, &key); break;
    case CPING_UDP_ECHO: cping__udpecho_encode(packet, length, &echo); break;
    }
}

/* Without kernel stamps the clock reading is the send time: send one ping per reading. */
static size_t batch_size(const cping__channel *channel) {
    return channel->stamps == CPING_STAMPS_DELIVERED ? CPING__BATCH : 1;
}

void cping__outbox_put(cping *pinger, cping__ping *ping) {
    cping__outbox *outbox = pinger->outbox;
    cping__target *target = ping->target;
    size_t length = length_of(&target->config);
    if (target->blocked) cping__scope_refresh(target);
    if (target->blocked) {
        cping__not_sent(pinger, ping, -target->blocked);
        return;
    }
    if (outbox->channel != target->channel || outbox->used + length > sizeof outbox->area) cping__outbox_flush(pinger);
    cping__outgoing *packet = &outbox->packets[outbox->count];
    uint8_t *bytes = outbox->area + outbox->used;
    encode(ping, bytes, length);
    packet->to_length = cping__address_to_socket(&target->config.destination, &packet->to);
    packet->packet = bytes;
    packet->length = length;
    packet->sequence = ping->sequence;
    outbox->channel = target->channel;
    outbox->pings[outbox->count++] = ping;
    outbox->used += length;
    if (outbox->count >= batch_size(target->channel)) cping__outbox_flush(pinger);
}

static void stamp_from(cping__outbox *outbox, size_t first) {
    cping__reading clocks = cping__read_clocks();
    for (size_t i = first; i < outbox->count; i++) outbox->pings[i]->sent.clocks = clocks;
}

static size_t send_from(cping *pinger, cping__outbox *outbox, size_t first, int *error) {
    *error = outbox->channel->blocked;
    if (*error) return 0;
    stamp_from(outbox, first);
    return cping__channel_send(outbox->channel, pinger->batch, outbox->packets + first, outbox->count - first, error);
}

/* Sets the addresses again: a link-local destination can have another interface before the kernel has reported it. */
static void address_anew(cping__outbox *outbox, size_t first) {
    for (size_t i = first; i < outbox->count; i++) {
        cping__target *target = outbox->pings[i]->target;
        cping__scope_refresh(target);
        cping__address_to_socket(&target->config.destination, &outbox->packets[i].to);
    }
}

/* Whether to send a packet again after an error that can be over; waits for at most a few milliseconds. */
static int is_worth_another_try(cping *pinger, size_t first, int error, int attempt) {
    cping__channel *channel = pinger->outbox->channel;
    const cping__ping *ping = pinger->outbox->pings[first];
    int is_full = error == -EAGAIN || error == -ENOBUFS;
    if (is_full) {
        if (!(ping->target->config.flags & CPING_TARGET_FLOOD) || attempt >= 5) return 0;
        struct pollfd writable = {.fd = channel->fd, .events = POLLOUT};
        poll(&writable, 1, 1);
        return 1;
    }
    if (error == -EMSGSIZE) {
        /* The error queue has the MTU. */
        channel->mtu = 0;
        cping__read_notices(pinger, channel);
    }
    if (error == -EMSGSIZE || attempt >= 3) return 0;
    /* The socket's interface can have another index, too. */
    cping__network_refresh(pinger, channel);
    address_anew(pinger->outbox, first);
    if (channel->blocked || ping->target->blocked) return 0;
    /* An ICMP error about an earlier ping makes the next send fail in its place: read it, then try again. */
    cping__read_notices(pinger, channel);
    return 1;
}

void cping__outbox_flush(cping *pinger) {
    cping__outbox *outbox = pinger->outbox;
    /* There is none before the first target. */
    if (!outbox || outbox->count == 0) return;
    cping__channel *channel = outbox->channel;
    size_t done = 0, sent = 0;
    int attempt = 0;
    while (done < outbox->count) {
        int error;
        size_t n = send_from(pinger, outbox, done, &error);
        if (n) attempt = 0;
        CPING__COUNT_MANY(pinger, sent, n);
        for (size_t i = 0; i < n; i++) outbox->pings[done + i]->target->totals.sent++;
        done += n;
        sent += n;
        if (done == outbox->count) break;
        if (is_worth_another_try(pinger, done, error, attempt++)) continue;
        cping__not_sent(pinger, outbox->pings[done++], -error);
        attempt = 0;
    }
    outbox->count = outbox->used = 0;
    /* Most drivers have stamped by now; reading it here saves a wakeup. */
    if (sent && channel->stamps != CPING_STAMPS_MISSING) cping__read_notices(pinger, channel);
}
