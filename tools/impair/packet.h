#ifndef IMPAIR_PACKET_H
#define IMPAIR_PACKET_H

#include <stddef.h>
#include <stdint.h>

enum { PACKET_HEAD = 16 };

/* The kind of a packet, as far as the log distinguishes packets. */
struct packet_id {
    uint8_t family;           /* 4 or 6; 0: not IP */
    uint8_t protocol;         /* IP protocol number; 255: fragments, IPv6 packets with extension headers, every "other" */
    const char *kind;         /* "echo-request", "echo-reply", "udp", "icmp", "tcp", "other" */
    uint16_t identifier;      /* echo: identifier */
    uint32_t sequence;        /* echo: sequence. RTR: its sequence. irtt: its seqno. TCP: its sequence number. Else 0 */
    uint16_t source_port, destination_port;
    size_t transport;         /* where the ICMP, UDP or TCP header begins */
    size_t payload;           /* where the payload begins; "other": behind the IP header */
    size_t payload_length;
    size_t end;               /* of the transport's bytes; there may be padding behind */
    uint8_t head[PACKET_HEAD];  /* the payload's first bytes */
    size_t head_length;
};

/* Every packet has a kind; an unknown packet is "other". */
struct packet_id packet_identify(const uint8_t *bytes, size_t length);

/* Flips the payload bit that `random` picks and returns its number, or -1 when there is no payload. */
int packet_flip(uint8_t *bytes, const struct packet_id *id, uint64_t random);

/* FNV-1a over the payload: packets of one hash have the same payload. */
uint64_t packet_hash(const uint8_t *bytes, const struct packet_id *id);

/* Corrects the transport checksum, so that only the reader of the payload can notice a flipped bit. That of "other" is unknown. */
void packet_fix_checksum(uint8_t *bytes, const struct packet_id *id);

#endif
