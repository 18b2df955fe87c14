#include "address.h"
#include "engine.h"
#include "icmp.h"
#include "rtr.h"

/* Bounds one reading, so that a flood of foreign datagrams cannot keep us from sending. */
enum { READ_AT_ONCE = 1024 };

static int is_of_target(const cping__target *target, const cping__channel *channel, const cping_address *address) {
    return target->channel == channel && cping__address_matches(&target->config.destination, address);
}

static int is_known_source(const cping *pinger, const cping__channel *channel, const cping_address *source) {
    for (size_t i = 0; i < pinger->target_count; i++) {
        if (is_of_target(pinger->targets[i], channel, source)) return 1;
    }
    return 0;
}

/* NULL when no ping of that number is remembered, or it went elsewhere. */
static cping__ping *find(cping *pinger, const cping__channel *channel, const cping_address *address, uint32_t sequence) {
    cping__ping *ping = cping__pending_find(&pinger->pending, sequence);
    return ping && is_of_target(ping->target, channel, address) ? ping : NULL;
}

static void read_rtr(cping *pinger, cping__channel *channel, const cping__datagram *datagram) {
    if (!is_known_source(pinger, channel, &datagram->from)) {
        CPING__COUNT(pinger, foreign_source);
        return;
    }
    uint32_t sequence = 0;
    enum cping__rtr_reply reply = cping__rtr_parse(datagram->bytes, datagram->length, &sequence);
    if (reply == CPING__RTR_SHORT) {
        CPING__COUNT(pinger, short_replies);
    } else if (reply == CPING__RTR_UNKNOWN) {
        CPING__COUNT(pinger, unknown_magic);
    } else {
        cping__ping *ping = find(pinger, channel, &datagram->from, sequence);
        if (ping) cping__replied(pinger, ping, datagram, reply == CPING__RTR_REFUSAL);
        else CPING__COUNT(pinger, unknown_sequence);
    }
}

static void read_echo(cping *pinger, cping__channel *channel, const cping__datagram *datagram, size_t header) {
    cping__echo echo;
    switch (cping__icmp_parse(datagram->bytes + header, datagram->length - header, channel->family, &echo)) {
    case CPING__ICMP_SHORT:
        CPING__COUNT(pinger, short_replies);
        return;
    case CPING__ICMP_OTHER:
        CPING__COUNT(pinger, unknown_magic);
        return;
    case CPING__ICMP_CORRUPT:
        CPING__COUNT(pinger, corrupt);
        return;
    case CPING__ICMP_ECHO_REPLY:
        break;
    }
    cping__ping *ping = find(pinger, channel, &datagram->from, echo.sequence);
    if (!ping || echo.identifier != channel->local_port) CPING__COUNT(pinger, unknown_sequence);
    else if (ping->token != echo.token) CPING__COUNT(pinger, corrupt);
    else cping__replied(pinger, ping, datagram, 0);
}

static void read_icmp(cping *pinger, cping__channel *channel, const cping__datagram *datagram) {
    int header = 0;
    if (channel->kind == CPING_SOCKET_RAW && channel->family == 4) {
        header = cping__icmp_ip_header(datagram->bytes, datagram->length);
    }
    if (header < 0) CPING__COUNT(pinger, short_replies);
    else if (!is_known_source(pinger, channel, &datagram->from)) CPING__COUNT(pinger, foreign_source);
    else read_echo(pinger, channel, datagram, (size_t)header);
}

void cping__read_datagrams(cping *pinger, cping__channel *channel) {
    cping__datagram datagram;
    for (int i = 0; i < READ_AT_ONCE && cping__channel_receive(channel, &datagram); i++) {
        if (channel->protocol == CPING_RTR) read_rtr(pinger, channel, &datagram);
        else read_icmp(pinger, channel, &datagram);
    }
}

/* A router need not quote more than our UDP header; then the error can be told apart only if a single ping is under way. */
static cping__ping *only_open_ping(cping *pinger, const cping__channel *channel, const cping_address *destination) {
    cping__ping *only = NULL;
    for (size_t i = 0; i < pinger->target_count; i++) {
        cping__target *target = pinger->targets[i];
        if (target->open == 0 || !is_of_target(target, channel, destination)) continue;
        if (only || target->open > 1) return NULL;
        only = target->oldest_open;
    }
    return only;
}

static cping__ping *find_quoted_rtr(cping *pinger, const cping__channel *channel, const cping__notice *notice) {
    uint32_t sequence;
    if (cping__rtr_parse_quote(notice->quote, notice->quote_length, &sequence) == 0) {
        return find(pinger, channel, &notice->destination, sequence);
    }
    return notice->quote_length < 8 ? only_open_ping(pinger, channel, &notice->destination) : NULL;
}

/* Only the low half of the sequence is in an echo header; of the numbers it can stand for, the newest that is open. */
static cping__ping *find_wire_sequence(cping *pinger, const cping__channel *channel, const cping__notice *notice,
                                       uint16_t wire_sequence) {
    uint32_t sequence = (pinger->sequence & 0xffff0000u) | wire_sequence;
    if ((int32_t)(sequence - pinger->sequence) > 0) sequence -= 0x10000;
    cping__ping *ping = find(pinger, channel, &notice->destination, sequence);
    return ping && ping->state == CPING__OPEN ? ping : NULL;
}

static cping__ping *find_quoted_echo(cping *pinger, const cping__channel *channel, const cping__notice *notice) {
    cping__echo echo;
    if (cping__icmp_parse_quote(notice->quote, notice->quote_length, channel->family, &echo) != 0) return NULL;
    if (echo.identifier != channel->local_port) return NULL;
    if (!echo.has_key) return find_wire_sequence(pinger, channel, notice, echo.wire_sequence);
    cping__ping *ping = find(pinger, channel, &notice->destination, echo.sequence);
    return ping && ping->token == echo.token ? ping : NULL;
}

/* Redirects and source quench come by the same way but say nothing about the packet's fate. */
static int is_failure(const cping__channel *channel, uint8_t type) {
    return channel->family == 4 ? type == 3 || type == 11 || type == 12 : type < 128;
}

static void read_icmp_error(cping *pinger, cping__channel *channel, const cping__notice *notice) {
    if (!is_failure(channel, notice->icmp_type)) return;
    cping__ping *ping = channel->protocol == CPING_RTR ? find_quoted_rtr(pinger, channel, notice)
                                                       : find_quoted_echo(pinger, channel, notice);
    if (ping && ping->state == CPING__OPEN) cping__icmp_error(pinger, ping, notice);
    else CPING__COUNT(pinger, unmatched_errors);
}

static void read_stamp(cping *pinger, cping__channel *channel, const cping__notice *notice) {
    uint32_t sequence;
    if (cping__channel_sequence(channel, notice->number, &sequence) != 0) return;
    cping__ping *ping = cping__pending_find(&pinger->pending, sequence);
    if (ping && ping->target->channel == channel) cping__send_stamp(pinger, ping, notice->stamp_ns);
}

int cping__read_notices(cping *pinger, cping__channel *channel) {
    cping__notice notice;
    int count = 0;
    for (; count < READ_AT_ONCE && cping__channel_notice(channel, &notice); count++) {
        if (notice.kind == CPING__NOTICE_STAMP) read_stamp(pinger, channel, &notice);
        if (notice.kind == CPING__NOTICE_ICMP) read_icmp_error(pinger, channel, &notice);
    }
    return count;
}
