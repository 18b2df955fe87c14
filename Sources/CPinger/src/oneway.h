/* The one-way format (docs/one-way-format.md): the far side adds its stamps, its counters and which pings it has seen. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CPING__ONEWAY_HEADER = 72, CPING__ONEWAY_LARGEST = 65507, CPING__ONEWAY_QUOTE = 28 };

enum { CPING__ONEWAY_KERNEL_STAMP = 1, CPING__ONEWAY_RESTARTED = 2, CPING__ONEWAY_NO_HISTORY = 4 };

/* The values that the sender writes and the far side returns. */
typedef struct cping__oneway_key {
    uint32_t number;    /* consecutive within the session, from 1 */
    uint32_t sequence;  /* any */
    uint64_t token, session;
} cping__oneway_key;

typedef struct cping__oneway {
    cping__oneway_key key;
    uint32_t flags;
    uint64_t receive_ns, send_ns;
    uint64_t history;  /* bit n: ping `number` - 1 - n had arrived */
    uint32_t received, sent, duplicates;
} cping__oneway;

enum cping__oneway_reply { CPING__ONEWAY_REPLY, CPING__ONEWAY_SHORT, CPING__ONEWAY_OTHER, CPING__ONEWAY_CORRUPT };

/* `length` bytes, CPING__ONEWAY_HEADER at least. */
void cping__oneway_encode(uint8_t *packet, size_t length, const cping__oneway_key *key);
enum cping__oneway_reply cping__oneway_parse(const uint8_t *bytes, size_t length, cping__oneway *reply);

/* Our own request as an ICMP error quotes it; 0, or -1 if the quote is too short or another's. */
int cping__oneway_parse_quote(const uint8_t *bytes, size_t length, cping__oneway_key *key);

/* The far side's part: whether this is a request, and turning it into its reply where it stands. */
int cping__oneway_parse_request(const uint8_t *bytes, size_t length, cping__oneway_key *key);
void cping__oneway_make_reply(uint8_t *packet, size_t length, const cping__oneway *reply);
