/* RTR replies, and requests as ICMP errors quote them. */
#include "bytes.h"
#include "fuzz.h"
#include "rtr.h"

static void check_reply(const uint8_t *data, size_t size) {
    uint32_t sequence = 0;
    enum cping__rtr_reply reply = cping__rtr_parse(data, size, &sequence);
    HOLDS((reply == CPING__RTR_SHORT) == (size < 8));
    if (size < 8) return;
    HOLDS((reply == CPING__RTR_ANSWER) == (memcmp(data, "RR01", 4) == 0));
    HOLDS((reply == CPING__RTR_REFUSAL) == (memcmp(data, "RE01", 4) == 0));
    if (reply != CPING__RTR_UNKNOWN) HOLDS(sequence == cping__get32(data + 4));
}

static void check_quote(const uint8_t *data, size_t size) {
    static const uint8_t token[CPING__RTR_TOKEN];
    uint8_t packet[CPING__RTR_REQUEST];
    uint32_t sequence;
    if (cping__rtr_parse_quote(data, size, &sequence) != 0) return;
    cping__rtr_encode(packet, sequence, token);
    HOLDS(size >= 8 && memcmp(packet, data, 8) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_reply(data, size);
    check_quote(data, size);
    return 0;
}
