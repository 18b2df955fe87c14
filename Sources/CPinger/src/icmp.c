#include "icmp.h"

#include <string.h>

#include "bytes.h"

enum { ECHO_REPLY_4 = 0, ECHO_REQUEST_4 = 8, ECHO_REQUEST_6 = 128, ECHO_REPLY_6 = 129 };

/* The sum of ones' complements is the same by 32 bits as by 16 (RFC 1071). */
static uint16_t checksum(const uint8_t *bytes, size_t length) {
    uint64_t sum = 0;
    size_t i = 0;
    for (; i + 4 <= length; i += 4) sum += cping__get32(bytes + i);
    if (length & 2) sum += (uint64_t)cping__get16(bytes + i) << 16;
    if (length & 1) sum += (uint64_t)bytes[length - 1] << (length & 2 ? 8 : 24);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* xorshift64, seeded with the sequence and the token in the payload, so that damage anywhere is detected. */
static uint64_t begin(uint32_t sequence, uint64_t token) {
    uint64_t state = token ^ sequence * UINT64_C(0x9e3779b97f4a7c15);
    return state ? state : 1;
}

static uint64_t next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void cping__fill_payload(uint8_t *payload, size_t length, uint32_t sequence, uint64_t token) {
    uint64_t state = begin(sequence, token);
    cping__put64(payload, token);
    cping__put32(payload + 8, sequence);
    size_t i = CPING__ICMP_KEY;
    for (; i + 8 <= length; i += 8) cping__put64(payload + i, next(&state));
    uint8_t eight[8];
    cping__put64(eight, next(&state));
    if (i < length) memcpy(payload + i, eight, length - i);
}

static int is_filled(const uint8_t *payload, size_t length, uint32_t sequence, uint64_t token) {
    uint64_t state = begin(sequence, token);
    size_t i = CPING__ICMP_KEY;
    for (; i + 8 <= length; i += 8) {
        if (cping__get64(payload + i) != next(&state)) return 0;
    }
    uint8_t eight[8];
    cping__put64(eight, next(&state));
    return i >= length || memcmp(payload + i, eight, length - i) == 0;
}

void cping__icmp_encode(uint8_t *packet, size_t payload, uint8_t family, uint16_t identifier, uint32_t sequence,
                        uint64_t token) {
    memset(packet, 0, CPING__ICMP_HEADER);
    packet[0] = family == 4 ? ECHO_REQUEST_4 : ECHO_REQUEST_6;
    cping__put16(packet + 4, identifier);
    cping__put16(packet + 6, (uint16_t)sequence);
    cping__fill_payload(packet + CPING__ICMP_HEADER, payload, sequence, token);
    /* The kernel fills in ICMPv6 checksums: they cover the addresses, which it chooses. */
    if (family == 4) cping__put16(packet + 2, checksum(packet, CPING__ICMP_HEADER + payload));
}

static void read_header(const uint8_t *bytes, cping__echo *echo) {
    *echo = (cping__echo){.identifier = cping__get16(bytes + 4), .wire_sequence = cping__get16(bytes + 6)};
}

static void read_key(const uint8_t *bytes, cping__echo *echo) {
    echo->token = cping__get64(bytes + CPING__ICMP_HEADER);
    echo->sequence = cping__get32(bytes + CPING__ICMP_HEADER + 8);
    echo->has_key = 1;
}

enum cping__icmp_reply cping__icmp_parse(const uint8_t *bytes, size_t length, uint8_t family, cping__echo *echo) {
    *echo = (cping__echo){0};
    if (length < CPING__ICMP_HEADER) return CPING__ICMP_SHORT;
    if (bytes[0] != (family == 4 ? ECHO_REPLY_4 : ECHO_REPLY_6) || bytes[1] != 0) return CPING__ICMP_OTHER;
    read_header(bytes, echo);
    if (length < CPING__ICMP_HEADER + CPING__ICMP_KEY) return CPING__ICMP_SHORT;
    read_key(bytes, echo);
    if (!is_filled(bytes + CPING__ICMP_HEADER, length - CPING__ICMP_HEADER, echo->sequence, echo->token)) {
        return CPING__ICMP_CORRUPT;
    }
    if (echo->wire_sequence != (uint16_t)echo->sequence) return CPING__ICMP_CORRUPT;
    /* Raw IPv4 sockets get messages before the kernel has looked at their checksum. */
    if (family == 4 && checksum(bytes, length) != 0) return CPING__ICMP_CORRUPT;
    return CPING__ICMP_ECHO_REPLY;
}

int cping__icmp_parse_quote(const uint8_t *bytes, size_t length, uint8_t family, cping__echo *echo) {
    if (length < CPING__ICMP_HEADER || bytes[0] != (family == 4 ? ECHO_REQUEST_4 : ECHO_REQUEST_6)) return -1;
    read_header(bytes, echo);
    if (length >= CPING__ICMP_HEADER + CPING__ICMP_KEY) read_key(bytes, echo);
    return 0;
}

uint16_t cping__icmp_identifier(const uint8_t *bytes) {
    return cping__get16(bytes + 4);
}

int cping__icmp_ip_header(const uint8_t *bytes, size_t length) {
    if (length < 20 || bytes[0] >> 4 != 4) return -1;
    size_t header = (size_t)(bytes[0] & 15) * 4;
    return header >= 20 && header <= length ? (int)header : -1;
}
