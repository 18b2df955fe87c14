/* The error queue: send stamps, and ICMP errors, which quote the packet that was sent. And reads before verdicts: a ping is lost only if its
 * reply is not among the datagrams that have arrived. */
#include <string.h>

#include "engine.h"
#include "icmp.h"
#include "rtr.h"
#include "udpecho.h"

/* A router need not quote more than the UDP header. Such an error is matched only if it can belong to a single ping. It can also belong to
 * a ping that was given up, because routers search for a neighbour for seconds before they report an error. */
static cping__ping *only_unheard_ping(const cping *pinger, const cping__channel *channel, const cping_address *destination) {
    cping__ping *only = NULL;
    /* Pings are under way to addresses that are no target's any more; this can be such an address. */
    if (pinger->former_places) return NULL;
    for (cping__target *target = NULL;
         (target = cping__directory_find(&pinger->directory, channel, destination, target));) {
        cping__ping *newest = TAILQ_LAST(&target->open_pings, cping__pings);
        if (target->unexplained) return NULL;
        if (!newest) continue;
        if (only || newest != TAILQ_FIRST(&target->open_pings)) return NULL;
        only = newest;
    }
    return only;
}

/* Whether the quote is the beginning of `packet`. */
static int begins(const uint8_t *packet, const cping__notice *notice) {
    return memcmp(packet, notice->quote, notice->quote_length) == 0;
}

static cping__ping *find_quoted_rtr(cping *pinger, const cping__channel *channel, const cping__notice *notice) {
    uint32_t sequence;
    if (cping__rtr_parse_quote(notice->quote, notice->quote_length, &sequence) == 0) {
        return cping__find_ping(pinger, channel, &notice->destination, sequence);
    }
    if (notice->quote_length >= CPING__RTR_QUOTE) return NULL;
    cping__ping *ping = only_unheard_ping(pinger, channel, &notice->destination);
    uint8_t packet[CPING__RTR_REQUEST];
    if (ping) cping__rtr_encode(packet, ping->sequence, ping->target->config.token);
    return ping && begins(packet, notice) ? ping : NULL;
}

static cping__ping *find_quoted_oneway(cping *pinger, const cping__channel *channel, const cping__notice *notice) {
    cping__oneway_key key;
    if (cping__oneway_parse_quote(notice->quote, notice->quote_length, &key) == 0) {
        cping__ping *ping = cping__find_ping(pinger, channel, &notice->destination, key.sequence);
        return ping && ping->token == key.token ? ping : NULL;
    }
    if (notice->quote_length >= CPING__ONEWAY_QUOTE) return NULL;
    cping__ping *ping = only_unheard_ping(pinger, channel, &notice->destination);
    uint8_t packet[CPING__ONEWAY_HEADER];
    if (ping) {
        key = (cping__oneway_key){.number = ping->number, .sequence = ping->sequence, .token = ping->token,
                                  .session = ping->target->session};
        cping__oneway_encode(packet, sizeof packet, &key);
    }
    return ping && begins(packet, notice) ? ping : NULL;
}

static cping__ping *find_quoted_udpecho(cping *pinger, const cping__channel *channel, const cping__notice *notice) {
    cping__udpecho_key key = {.port = notice->destination.port};
    if (cping__udpecho_parse(notice->quote, notice->quote_length, &key) == 0) {
        cping__ping *ping = cping__find_ping(pinger, channel, &notice->destination, key.sequence);
        return ping && ping->token == key.token ? ping : NULL;
    }
    if (notice->quote_length >= CPING__UDPECHO_QUOTE) return NULL;
    cping__ping *ping = only_unheard_ping(pinger, channel, &notice->destination);
    uint8_t packet[CPING__UDPECHO_HEADER];
    if (ping) {
        key.sequence = ping->sequence;
        key.token = ping->token;
        cping__udpecho_encode(packet, sizeof packet, &key);
    }
    return ping && begins(packet, notice) ? ping : NULL;
}

static cping__ping *find_quoted_echo(cping *pinger, const cping__channel *channel, const cping__notice *notice) {
    cping__echo echo;
    if (cping__icmp_parse_quote(notice->quote, notice->quote_length, channel->key.family, &echo) != 0) return NULL;
    if (echo.identifier != channel->local_port) return NULL;
    if (!echo.has_key) return cping__find_wire_sequence(pinger, channel, &notice->destination, echo.wire_sequence);
    cping__ping *ping = cping__find_ping(pinger, channel, &notice->destination, echo.sequence);
    return ping && ping->token == echo.token ? ping : NULL;
}

/* Redirects and source quench come by the same way but say nothing about the packet's fate. */
static int is_failure(const cping__channel *channel, uint8_t type) {
    return channel->key.family == 4 ? type == 3 || type == 11 || type == 12 : type < 128;
}

static void read_icmp_error(cping *pinger, cping__channel *channel, const cping__notice *notice) {
    if (!is_failure(channel, notice->icmp_type)) return;
    cping__ping *ping = NULL;
    switch (channel->key.protocol) {
    case CPING_RTR: ping = find_quoted_rtr(pinger, channel, notice); break;
    case CPING_ICMP: ping = find_quoted_echo(pinger, channel, notice); break;
    case CPING_ONEWAY: ping = find_quoted_oneway(pinger, channel, notice); break;
    case CPING_UDP_ECHO: ping = find_quoted_udpecho(pinger, channel, notice); break;
    }
    if (ping && ping->state == CPING__OPEN) {
        cping__icmp_error(pinger, ping, notice);
        return;
    }
    if (ping) cping__explained(ping);
    CPING__COUNT(pinger, unmatched_errors);
}

static void read_stamp(cping *pinger, cping__channel *channel, const cping__notice *notice) {
    channel->stamps = CPING_STAMPS_DELIVERED;
    channel->missing_in_a_row = 0;
    cping__ping *ping = cping__pending_find(&pinger->pending, notice->sequence);
    if (ping && ping->target->channel == channel) cping__send_stamp(pinger, ping, notice->stamp_ns);
}

int cping__read_notices(cping *pinger, cping__channel *channel) {
    for (int i = 0; i < CPING__HAULS_AT_ONCE && cping__has_room(pinger); i++) {
        const cping__notice *notices;
        int more;
        size_t count = cping__channel_notices(channel, pinger->batch, &notices, &more);
        for (size_t j = 0; j < count; j++) {
            if (notices[j].kind == CPING__NOTICE_STAMP) read_stamp(pinger, channel, &notices[j]);
            if (notices[j].kind == CPING__NOTICE_ICMP) read_icmp_error(pinger, channel, &notices[j]);
        }
        if (!more) return 1;
    }
    return 0;
}

/* ---- All that has arrived ---- */

/* Reads until the socket is empty, or until as many datagrams were read as its buffer can hold, so that a flood of foreign datagrams
 * cannot block the thread. */
static int read_all(cping *pinger, cping__channel *channel, int (*read)(cping *, cping__channel *)) {
    size_t most = channel->most_queued / (CPING__HAUL * CPING__HAULS_AT_ONCE) + 1;
    for (size_t i = 0; i < most; i++) {
        if (read(pinger, channel)) return 1;
        if (!cping__has_room(pinger)) return 0;
    }
    return 1;
}

int cping__read_arrived(cping *pinger, cping__channel *channel, uint64_t now_ns) {
    if (channel->read_until_ns >= now_ns) return 1;
    uint64_t begun_ns = cping__now();
    /* Stamps go first: replies wait for them. */
    if (!read_all(pinger, channel, cping__read_notices)) return 0;
    if (!read_all(pinger, channel, cping__read_datagrams)) return 0;
    channel->read_until_ns = begun_ns;
    return 1;
}
