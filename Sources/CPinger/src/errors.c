/* The error queue: send stamps, and ICMP errors, which quote what we sent. */
#include "engine.h"
#include "icmp.h"
#include "rtr.h"

enum { HAULS_AT_ONCE = 16 };

/* A router need not quote more than our UDP header; then the error can be told apart only if a single ping is under way. */
static cping__ping *only_open_ping(const cping *pinger, const cping__channel *channel, const cping_address *destination) {
    cping__ping *only = NULL;
    for (cping__target *target = NULL;
         (target = cping__directory_find(&pinger->directory, channel, destination, target));) {
        if (target->open == 0) continue;
        if (only || target->open > 1) return NULL;
        only = TAILQ_FIRST(&target->open_pings);
    }
    return only;
}

static cping__ping *find_quoted_rtr(cping *pinger, const cping__channel *channel, const cping__notice *notice) {
    uint32_t sequence;
    if (cping__rtr_parse_quote(notice->quote, notice->quote_length, &sequence) == 0) {
        return cping__find_ping(pinger, channel, &notice->destination, sequence);
    }
    return notice->quote_length < 8 ? only_open_ping(pinger, channel, &notice->destination) : NULL;
}

static cping__ping *find_quoted_oneway(cping *pinger, const cping__channel *channel, const cping__notice *notice) {
    cping__oneway_key key;
    if (cping__oneway_parse_quote(notice->quote, notice->quote_length, &key) == 0) {
        cping__ping *ping = cping__find_ping(pinger, channel, &notice->destination, key.sequence);
        return ping && ping->token == key.token ? ping : NULL;
    }
    return notice->quote_length < 28 ? only_open_ping(pinger, channel, &notice->destination) : NULL;
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
    }
    if (ping && ping->state == CPING__OPEN) cping__icmp_error(pinger, ping, notice);
    else CPING__COUNT(pinger, unmatched_errors);
}

static void read_stamp(cping *pinger, cping__channel *channel, const cping__notice *notice) {
    channel->stamps = CPING_STAMPS_DELIVERED;
    channel->missing_in_a_row = 0;
    cping__ping *ping = cping__pending_find(&pinger->pending, notice->sequence);
    if (ping && ping->target->channel == channel) cping__send_stamp(pinger, ping, notice->stamp_ns);
}

void cping__read_notices(cping *pinger, cping__channel *channel) {
    int more = 1;
    for (int i = 0; i < HAULS_AT_ONCE && more && cping__has_room(pinger); i++) {
        const cping__notice *notices;
        size_t count = cping__channel_notices(channel, pinger->batch, &notices, &more);
        for (size_t j = 0; j < count; j++) {
            if (notices[j].kind == CPING__NOTICE_STAMP) read_stamp(pinger, channel, &notices[j]);
            if (notices[j].kind == CPING__NOTICE_ICMP) read_icmp_error(pinger, channel, &notices[j]);
        }
    }
}
