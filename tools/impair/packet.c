#include "packet.h"

#include <netinet/in.h>
#include <string.h>

enum { UNKNOWN_PROTOCOL = 255 };

static uint16_t read16(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t read32(const uint8_t *bytes) {
    return (uint32_t)read16(bytes) << 16 | read16(bytes + 2);
}

static uint32_t read32_little(const uint8_t *bytes) {
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static void locate4(struct packet_id *id, const uint8_t *bytes, size_t length) {
    size_t header = (size_t)(bytes[0] & 15) * 4;
    size_t total = length >= 20 ? read16(bytes + 2) : 0;
    if (length < 20 || header < 20 || header > total || total > length) return;
    id->family = 4;
    id->protocol = read16(bytes + 6) & 0x3fff ? UNKNOWN_PROTOCOL : bytes[9];
    id->transport = id->payload = header;
    id->end = total;
}

static void locate6(struct packet_id *id, const uint8_t *bytes, size_t length) {
    size_t total = length >= 40 ? 40 + (size_t)read16(bytes + 4) : 0;
    if (length < 40 || total > length) return;
    id->family = 6;
    id->protocol = bytes[6] == IPPROTO_TCP || bytes[6] == IPPROTO_UDP || bytes[6] == IPPROTO_ICMPV6 ? bytes[6] : UNKNOWN_PROTOCOL;
    id->transport = id->payload = 40;
    id->end = total;
}

static void identify_icmp(struct packet_id *id, const uint8_t *bytes) {
    uint8_t type = bytes[id->transport];
    id->kind = "icmp";
    id->payload = id->transport + 8;
    if (type == (id->family == 4 ? 8 : 128)) id->kind = "echo-request";
    else if (type == (id->family == 4 ? 0 : 129)) id->kind = "echo-reply";
    else return;
    id->identifier = read16(bytes + id->transport + 4);
    id->sequence = read16(bytes + id->transport + 6);
}

static void identify_ports(struct packet_id *id, const uint8_t *bytes) {
    id->source_port = read16(bytes + id->transport);
    id->destination_port = read16(bytes + id->transport + 2);
}

static void identify_tcp(struct packet_id *id, const uint8_t *bytes) {
    size_t header = (size_t)(bytes[id->transport + 12] >> 4) * 4;
    id->kind = "tcp";
    identify_ports(id, bytes);
    id->sequence = read32(bytes + id->transport + 4);
    id->payload = header > id->end - id->transport ? id->end : id->transport + header;
}

/* The UDP protocols whose numbers are known: RTR (RP01, RR01, RE01 and a big-endian number) and irtt (three magic bytes,
 * flags, a token, a little-endian number). For other protocols, the judge uses the payload's head. */
static void identify_udp(struct packet_id *id, const uint8_t *bytes) {
    const uint8_t *payload = bytes + id->transport + 8;
    size_t length = id->end - id->transport - 8;
    id->kind = "udp";
    id->payload = id->transport + 8;
    identify_ports(id, bytes);
    if (length >= 8 && payload[0] == 'R' && memcmp(payload + 2, "01", 2) == 0) id->sequence = read32(payload + 4);
    else if (length >= 16 && memcmp(payload, "\x14\xa7\x5b", 3) == 0) id->sequence = read32_little(payload + 12);
}

struct packet_id packet_identify(const uint8_t *bytes, size_t length) {
    struct packet_id id = {.kind = "other", .protocol = UNKNOWN_PROTOCOL};
    if (length && bytes[0] >> 4 == 4) locate4(&id, bytes, length);
    else if (length && bytes[0] >> 4 == 6) locate6(&id, bytes, length);
    int is_icmp = id.protocol == (id.family == 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
    size_t transport_length = id.end - id.transport;
    if (is_icmp && transport_length >= 8) identify_icmp(&id, bytes);
    else if (id.protocol == IPPROTO_UDP && transport_length >= 8) identify_udp(&id, bytes);
    else if (id.protocol == IPPROTO_TCP && transport_length >= 20) identify_tcp(&id, bytes);
    else id.protocol = UNKNOWN_PROTOCOL;
    id.payload_length = id.end - id.payload;
    id.head_length = id.payload_length < PACKET_HEAD ? id.payload_length : PACKET_HEAD;
    memcpy(id.head, bytes + id.payload, id.head_length);
    return id;
}

int packet_flip(uint8_t *bytes, const struct packet_id *id, uint64_t random) {
    if (id->payload_length == 0) return -1;
    size_t bit = (size_t)(random % (id->payload_length * 8));
    bytes[id->payload + bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    return (int)bit;
}

uint64_t packet_hash(const uint8_t *bytes, const struct packet_id *id) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < id->payload_length; i++) hash = (hash ^ bytes[id->payload + i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint32_t sum(const uint8_t *bytes, size_t length, uint32_t value) {
    for (size_t i = 0; i + 1 < length; i += 2) value += read16(bytes + i);
    if (length % 2) value += (uint32_t)bytes[length - 1] << 8;
    return value;
}

void packet_fix_checksum(uint8_t *bytes, const struct packet_id *id) {
    if (id->protocol == UNKNOWN_PROTOCOL) return;
    size_t length = id->end - id->transport;
    size_t field = id->transport + (id->protocol == IPPROTO_TCP ? 16 : id->protocol == IPPROTO_UDP ? 6 : 2);
    if (id->protocol == IPPROTO_UDP && read16(bytes + field) == 0) return;  /* sent without one */
    bytes[field] = bytes[field + 1] = 0;
    uint32_t value = sum(bytes + id->transport, length, 0);
    if (id->protocol != IPPROTO_ICMP) {  /* the pseudo header */
        value += id->protocol + (uint32_t)length;
        value = id->family == 4 ? sum(bytes + 12, 8, value) : sum(bytes + 8, 32, value);
    }
    while (value >> 16) value = (value & 0xffff) + (value >> 16);
    uint16_t checksum = (uint16_t)~value;
    if (id->protocol == IPPROTO_UDP && checksum == 0) checksum = 0xffff;
    bytes[field] = (uint8_t)(checksum >> 8);
    bytes[field + 1] = (uint8_t)checksum;
}
