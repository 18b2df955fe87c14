/* The RTR UDP ping: request "RP01" + sequence + token, reply "RR01" or "RE01" + sequence, all big-endian. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CPING__RTR_TOKEN = 16, CPING__RTR_REQUEST = 24, CPING__RTR_REPLY = 8, CPING__RTR_QUOTE = 8 };

enum cping__rtr_reply { CPING__RTR_ANSWER, CPING__RTR_REFUSAL, CPING__RTR_SHORT, CPING__RTR_UNKNOWN };

void cping__rtr_encode(uint8_t packet[CPING__RTR_REQUEST], uint32_t sequence, const uint8_t token[CPING__RTR_TOKEN]);

/* The kind of a reply; `sequence` is set for an answer and a refusal. Bytes beyond the eighth are ignored. */
enum cping__rtr_reply cping__rtr_parse(const uint8_t *bytes, size_t length, uint32_t *sequence);

/* The sequence of our own request as an ICMP error quotes it; returns 0, or -1 if the quote is too short or another's. */
int cping__rtr_parse_quote(const uint8_t *bytes, size_t length, uint32_t *sequence);
