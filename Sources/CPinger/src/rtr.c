#include "rtr.h"

#include <string.h>

#include "bytes.h"

void cping__rtr_encode(uint8_t packet[CPING__RTR_REQUEST], uint32_t sequence, const uint8_t token[CPING__RTR_TOKEN]) {
    memcpy(packet, "RP01", 4);
    cping__put32(packet + 4, sequence);
    memcpy(packet + 8, token, CPING__RTR_TOKEN);
}

enum cping__rtr_reply cping__rtr_parse(const uint8_t *bytes, size_t length, uint32_t *sequence) {
    if (length < CPING__RTR_REPLY) return CPING__RTR_SHORT;
    *sequence = cping__get32(bytes + 4);
    if (memcmp(bytes, "RR01", 4) == 0) return CPING__RTR_ANSWER;
    if (memcmp(bytes, "RE01", 4) == 0) return CPING__RTR_REFUSAL;
    return CPING__RTR_UNKNOWN;
}

int cping__rtr_parse_quote(const uint8_t *bytes, size_t length, uint32_t *sequence) {
    if (length < CPING__RTR_QUOTE || memcmp(bytes, "RP01", 4) != 0) return -1;
    *sequence = cping__get32(bytes + 4);
    return 0;
}
