/* ICMP and ICMPv6 echo. The payload is a random token, the whole 32-bit sequence and a pattern that follows from the token:
 * a reply counts only if all of it came back. There is no time in it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CPING__ICMP_HEADER = 8, CPING__ICMP_KEY = 12, CPING__ICMP_PAYLOAD = 56, CPING__ICMP_LARGEST = 65507 };

typedef struct cping__echo {
    uint16_t identifier;
    uint16_t wire_sequence;
    uint32_t sequence;  /* this and the token come from the payload; both 0 where a quote was cut before them */
    uint64_t token;
    int has_key;
} cping__echo;

enum cping__icmp_reply { CPING__ICMP_ECHO_REPLY, CPING__ICMP_SHORT, CPING__ICMP_OTHER, CPING__ICMP_CORRUPT };

/* The pattern, from a token and a sequence on, `length` bytes (12 at least). */
void cping__fill_payload(uint8_t *payload, size_t length, uint32_t sequence, uint64_t token);

/* `packet` has room for CPING__ICMP_HEADER + `payload` bytes. */
void cping__icmp_encode(uint8_t *packet, size_t payload, uint8_t family, uint16_t identifier, uint32_t sequence,
                        uint64_t token);

/* An ICMP message without IP header. CORRUPT: an echo reply whose checksum (IPv4) or pattern is wrong. `echo` is then filled
 * as far as it goes, but not to be trusted. Whether the length is right only the sender of the ping knows. */
enum cping__icmp_reply cping__icmp_parse(const uint8_t *bytes, size_t length, uint8_t family, cping__echo *echo);

/* The identifier of an echo message, of which CPING__ICMP_HEADER bytes are there. */
uint16_t cping__icmp_identifier(const uint8_t *bytes);

/* Our own request as an ICMP error quotes it, perhaps only its header; returns 0, or -1 if it is something else. */
int cping__icmp_parse_quote(const uint8_t *bytes, size_t length, uint8_t family, cping__echo *echo);

/* Length of the IPv4 header (a raw socket hands it out) in front of an ICMP message, or -1. */
int cping__icmp_ip_header(const uint8_t *bytes, size_t length);
