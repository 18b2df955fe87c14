/* Pings to a plain UDP echo service (RFC 862), which sends every datagram back as it came. The payload is this probe's own: a mark, the
 * sequence, a random token of the ping, the port that it goes to, and a pattern that follows from the token. A reply counts only if all
 * of it came back. The port tells a request from its reply in a capture: they are the same bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CPING__UDPECHO_HEADER = 18, CPING__UDPECHO_PAYLOAD = 24, CPING__UDPECHO_LARGEST = 65507, CPING__UDPECHO_QUOTE = 16 };

typedef struct cping__udpecho_key {
    uint32_t sequence;
    uint64_t token;
    uint16_t port;  /* the destination of the request */
} cping__udpecho_key;

/* Writes `length` bytes, CPING__UDPECHO_HEADER at least. */
void cping__udpecho_encode(uint8_t *packet, size_t length, const cping__udpecho_key *key);

/* Whether `bytes` are exactly what `cping__udpecho_encode` writes for the key. */
int cping__udpecho_equals(const uint8_t *bytes, size_t length, const cping__udpecho_key *key);

/* Sequence and token of a datagram, or of the beginning of one that an ICMP error quotes (CPING__UDPECHO_QUOTE bytes); the key's port stays
 * as it is. Returns 0, or -1 if it is too short or has another mark. */
int cping__udpecho_parse(const uint8_t *bytes, size_t length, cping__udpecho_key *key);
