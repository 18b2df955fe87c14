#include "address.h"
#include "engine.h"
#include "icmp.h"
#include "rtr.h"
#include "udpecho.h"

cping__ping *cping__find_ping(cping *pinger, const cping__channel *channel, const cping_address *address,
                              uint32_t sequence) {
    cping__ping *ping = cping__pending_find(&pinger->pending, sequence);
    if (!ping || ping->target->channel != channel) return NULL;
    return cping__address_matches(cping__place_of(ping), address) ? ping : NULL;
}

/* Only the low half of the sequence is in an echo header. Returns the only open ping whose sequence ends with it; NULL if several
 * are open or lost, or if the only one is lost. */
cping__ping *cping__find_wire_sequence(cping *pinger, const cping__channel *channel, const cping_address *address,
                                       uint16_t wire_sequence) {
    cping__ping *only = NULL;
    uint32_t sequence = (pinger->sequence & 0xffff0000u) | wire_sequence;
    if ((int32_t)(sequence - pinger->sequence) > 0) sequence -= 0x10000;
    for (uint32_t i = 0; i <= CPING__PENDING_LIMIT / 0x10000; i++) {
        cping__ping *ping = cping__find_ping(pinger, channel, address, sequence - i * 0x10000);
        if (!ping || (ping->state != CPING__OPEN && ping->state != CPING__LOST)) continue;
        if (only) return NULL;
        only = ping;
    }
    return only && only->state == CPING__OPEN ? only : NULL;
}

static cping__target *target_at(const cping *pinger, const cping__channel *channel, const cping_address *address) {
    return cping__directory_find(&pinger->directory, channel, address, NULL);
}

static void take(cping *pinger, cping__ping *ping, const cping__datagram *datagram, int refused) {
    cping__reply reply = {.at = datagram->at, .from = datagram->from, .ttl = datagram->ttl, .refused = refused};
    cping__replied(pinger, ping, &reply);
}

/* From no target of ours, or of no ping that is remembered. `ping` has the sequence of the reply, or is NULL: it can be the reply to it,
 * from another address. */
static void count_stranger(cping *pinger, const cping__channel *channel, const cping__datagram *datagram, cping__ping *ping) {
    if (target_at(pinger, channel, &datagram->from)) {
        CPING__COUNT(pinger, unknown_sequence);
    } else {
        CPING__COUNT(pinger, foreign_source);
        if (ping && ping->target->channel == channel) cping__elsewhere(pinger, ping, datagram);
    }
}

static void count_corrupt(cping *pinger, const cping__channel *channel, const cping__datagram *datagram,
                          cping__ping *ping) {
    cping__target *target = ping ? ping->target : target_at(pinger, channel, &datagram->from);
    if (!target) {
        CPING__COUNT(pinger, foreign_source);
        return;
    }
    cping__corrupt(pinger, target, ping, datagram);
}

static void read_rtr(cping *pinger, cping__channel *channel, const cping__datagram *datagram) {
    uint32_t sequence = 0;
    enum cping__rtr_reply reply = cping__rtr_parse(datagram->bytes, datagram->length, &sequence);
    if (reply == CPING__RTR_ANSWER || reply == CPING__RTR_REFUSAL) {
        cping__ping *ping = cping__find_ping(pinger, channel, &datagram->from, sequence);
        if (ping) take(pinger, ping, datagram, reply == CPING__RTR_REFUSAL);
        else count_stranger(pinger, channel, datagram, cping__pending_find(&pinger->pending, sequence));
    } else if (!target_at(pinger, channel, &datagram->from)) {
        CPING__COUNT(pinger, foreign_source);
    } else if (reply == CPING__RTR_SHORT) {
        CPING__COUNT(pinger, short_replies);
    } else {
        CPING__COUNT(pinger, unknown_magic);
    }
}

static void match_echo(cping *pinger, cping__channel *channel, const cping__datagram *datagram, size_t length,
                       const cping__echo *echo) {
    cping__ping *ping = cping__find_ping(pinger, channel, &datagram->from, echo->sequence);
    if (!ping) {
        cping__ping *other = cping__pending_find(&pinger->pending, echo->sequence);
        count_stranger(pinger, channel, datagram, other && other->token == echo->token ? other : NULL);
    } else if (ping->token != echo->token) {
        /* A whole payload with another token: of another program of this kind. */
        CPING__COUNT(pinger, foreign_source);
    } else if (datagram->cut || length != (size_t)CPING__ICMP_HEADER + ping->target->config.size) {
        count_corrupt(pinger, channel, datagram, ping);
    } else {
        take(pinger, ping, datagram, 0);
    }
}

/* Whether most of the payload is what the ping carried. An echo of another program that uses the same identifier is no damaged reply. */
static int resembles(const cping__ping *ping, const uint8_t *payload, size_t length) {
    uint8_t sent[128];
    size_t compared = length < sizeof sent ? length : sizeof sent, same = 0;
    if (compared > ping->target->config.size) compared = ping->target->config.size;
    cping__fill_payload(sent, compared, ping->sequence, ping->token);
    for (size_t i = 0; i < compared; i++) same += sent[i] == payload[i];
    return same * 2 > compared;
}

/* The ping whose damaged reply this is; NULL: none that is remembered. Sequences differ in their high halves, which are not in the header. */
static cping__ping *find_damaged(cping *pinger, const cping__channel *channel, const cping__datagram *datagram,
                                 const cping__echo *echo, const uint8_t *payload, size_t length) {
    cping__ping *ping = cping__find_ping(pinger, channel, &datagram->from, echo->sequence);
    if (ping && resembles(ping, payload, length)) return ping;
    uint32_t sequence = (pinger->sequence & 0xffff0000u) | echo->wire_sequence;
    if ((int32_t)(sequence - pinger->sequence) > 0) sequence -= 0x10000;
    for (uint32_t i = 0; i <= CPING__PENDING_LIMIT / 0x10000; i++) {
        ping = cping__find_ping(pinger, channel, &datagram->from, sequence - i * 0x10000);
        if (ping && resembles(ping, payload, length)) return ping;
    }
    return NULL;
}

static void read_echo(cping *pinger, cping__channel *channel, const cping__datagram *datagram, size_t header) {
    cping__echo echo;
    size_t length = datagram->length - header;
    enum cping__icmp_reply reply = cping__icmp_parse(datagram->bytes + header, length, channel->key.family, &echo);
    if (length >= CPING__ICMP_HEADER && cping__icmp_identifier(datagram->bytes + header) != channel->local_port) {
        /* Another program's reply. The socket's filter does not stop datagrams that arrived on another CPU while it was attached. */
        CPING__COUNT(pinger, foreign_source);
    } else if (reply == CPING__ICMP_ECHO_REPLY) {
        match_echo(pinger, channel, datagram, length, &echo);
    } else if (!target_at(pinger, channel, &datagram->from)) {
        CPING__COUNT(pinger, foreign_source);
    } else if (reply == CPING__ICMP_SHORT) {
        CPING__COUNT(pinger, short_replies);
    } else if (reply == CPING__ICMP_OTHER) {
        CPING__COUNT(pinger, unknown_magic);
    } else {
        const uint8_t *payload = datagram->bytes + header + CPING__ICMP_HEADER;
        cping__ping *ping = find_damaged(pinger, channel, datagram, &echo, payload, length - CPING__ICMP_HEADER);
        if (ping) count_corrupt(pinger, channel, datagram, ping);
        else CPING__COUNT(pinger, foreign_source);
    }
}

static void read_icmp(cping *pinger, cping__channel *channel, const cping__datagram *datagram) {
    int header = 0;
    if (channel->kind == CPING_SOCKET_RAW && channel->key.family == 4) {
        header = cping__icmp_ip_header(datagram->bytes, datagram->length);
    }
    if (header < 0) CPING__COUNT(pinger, short_replies);
    else read_echo(pinger, channel, datagram, (size_t)header);
}

static void read_oneway(cping *pinger, cping__channel *channel, const cping__datagram *datagram) {
    cping__reply reply = {.at = datagram->at, .from = datagram->from, .ttl = datagram->ttl, .is_oneway = 1};
    enum cping__oneway_reply kind = cping__oneway_parse(datagram->bytes, datagram->length, &reply.oneway);
    const cping__oneway_key *key = &reply.oneway.key;
    if (kind == CPING__ONEWAY_REPLY) {
        cping__ping *ping = cping__find_ping(pinger, channel, &datagram->from, key->sequence);
        cping__ping *other = ping ? NULL : cping__pending_find(&pinger->pending, key->sequence);
        if (!ping) count_stranger(pinger, channel, datagram, other && other->token == key->token ? other : NULL);
        else if (ping->token != key->token || ping->number != key->number || ping->target->session != key->session ||
                 datagram->length != ping->target->config.size) count_corrupt(pinger, channel, datagram, ping);
        else cping__replied(pinger, ping, &reply);
    } else if (!target_at(pinger, channel, &datagram->from)) {
        CPING__COUNT(pinger, foreign_source);
    } else if (kind == CPING__ONEWAY_SHORT) {
        CPING__COUNT(pinger, short_replies);
    } else if (kind == CPING__ONEWAY_OTHER) {
        CPING__COUNT(pinger, unknown_magic);
    } else {
        cping__ping *ping = cping__find_ping(pinger, channel, &datagram->from, key->sequence);
        /* The sequence itself can be damaged: the reply belongs to this ping only if the token agrees. */
        count_corrupt(pinger, channel, datagram, ping && ping->token == key->token ? ping : NULL);
    }
}

/* An echo service returns anything: what is not our own, unchanged, is no reply. */
static void read_udpecho(cping *pinger, cping__channel *channel, const cping__datagram *datagram) {
    cping__udpecho_key key = {.port = datagram->from.port};
    if (cping__udpecho_parse(datagram->bytes, datagram->length, &key) != 0) {
        if (!target_at(pinger, channel, &datagram->from)) CPING__COUNT(pinger, foreign_source);
        else if (datagram->length < CPING__UDPECHO_QUOTE) CPING__COUNT(pinger, short_replies);
        else CPING__COUNT(pinger, unknown_magic);
        return;
    }
    cping__ping *ping = cping__find_ping(pinger, channel, &datagram->from, key.sequence);
    cping__ping *other = ping ? NULL : cping__pending_find(&pinger->pending, key.sequence);
    if (!ping) {
        count_stranger(pinger, channel, datagram, other && other->token == key.token ? other : NULL);
    } else if (ping->token != key.token) {
        CPING__COUNT(pinger, foreign_source);
    } else if (datagram->cut || datagram->length != ping->target->config.size ||
               !cping__udpecho_equals(datagram->bytes, datagram->length, &key)) {
        count_corrupt(pinger, channel, datagram, ping);
    } else {
        take(pinger, ping, datagram, 0);
    }
}

static void read_datagram(cping *pinger, cping__channel *channel, const cping__datagram *datagram) {
    switch (channel->key.protocol) {
    case CPING_RTR: read_rtr(pinger, channel, datagram); break;
    case CPING_ICMP: read_icmp(pinger, channel, datagram); break;
    case CPING_ONEWAY: read_oneway(pinger, channel, datagram); break;
    case CPING_UDP_ECHO: read_udpecho(pinger, channel, datagram); break;
    }
}

int cping__read_datagrams(cping *pinger, cping__channel *channel) {
    for (int i = 0; i < CPING__HAULS_AT_ONCE && cping__has_room(pinger); i++) {
        const cping__datagram *datagrams;
        int more;
        size_t count = cping__channel_receive(channel, pinger->batch, &datagrams, &more);
        for (size_t j = 0; j < count; j++) read_datagram(pinger, channel, &datagrams[j]);
        if (!more) return 1;
    }
    return 0;
}
