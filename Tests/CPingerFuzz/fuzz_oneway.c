/* One-way replies, requests (the reflector reads them) and quoted requests. The first byte selects whether the check is
 * corrected first. */
#include "bytes.h"
#include "fuzz.h"
#include "oneway.h"

enum { CHECK_AT = 68 };

static uint32_t check_of(const uint8_t *bytes, size_t length) {
    uint32_t hash = 0x811c9dc5;
    for (size_t i = 0; i < length; i++) {
        if (i / 4 != CHECK_AT / 4) hash = (hash ^ bytes[i]) * 0x01000193;
    }
    return hash;
}

static void check_reply(uint8_t *bytes, size_t size) {
    cping__oneway reply;
    enum cping__oneway_reply kind = cping__oneway_parse(bytes, size, &reply);
    HOLDS((kind == CPING__ONEWAY_SHORT) == (size < CPING__ONEWAY_HEADER));
    if (kind == CPING__ONEWAY_SHORT) return;
    HOLDS((kind == CPING__ONEWAY_OTHER) == (memcmp(bytes, "CPR1", 4) != 0));
    if (kind == CPING__ONEWAY_OTHER) return;
    HOLDS((kind == CPING__ONEWAY_REPLY) == (check_of(bytes, size) == cping__get32(bytes + CHECK_AT)));
    if (kind != CPING__ONEWAY_REPLY) return;
    /* Parsing a packet and writing it again gives the same packet. */
    uint8_t *again = malloc(size);
    HOLDS(again != NULL);
    memcpy(again, bytes, size);
    memset(again + 28, 0xaa, CHECK_AT - 28);
    cping__oneway_make_reply(again, size, &reply);
    HOLDS(memcmp(again, bytes, size) == 0);
    free(again);
}

static void check_request(const uint8_t *bytes, size_t size) {
    cping__oneway_key key, quoted;
    int is_request = cping__oneway_parse_request(bytes, size, &key) == 0;
    int is_quote = cping__oneway_parse_quote(bytes, size, &quoted) == 0;
    HOLDS(is_quote == (size >= 28 && memcmp(bytes, "CPQ1", 4) == 0));
    if (!is_request) return;
    HOLDS(is_quote && size >= CPING__ONEWAY_HEADER && check_of(bytes, size) == cping__get32(bytes + CHECK_AT));
    HOLDS(key.number == quoted.number && key.sequence == quoted.sequence && key.token == quoted.token);
    uint8_t *again = malloc(size);
    HOLDS(again != NULL);
    cping__oneway_encode(again, size, &key);
    HOLDS(memcmp(again, bytes, 28) == 0);
    HOLDS(cping__oneway_parse_request(again, size, &quoted) == 0 && quoted.session == key.session);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    uint8_t *copy = malloc(size);
    HOLDS(copy != NULL);
    uint8_t *bytes = copy + 1;
    size_t length = size - 1;
    memcpy(bytes, data + 1, length);
    if (data[0] & 1 && length >= CPING__ONEWAY_HEADER) cping__put32(bytes + CHECK_AT, check_of(bytes, length));
    check_request(bytes, length);
    check_reply(bytes, length);
    free(copy);
    return 0;
}
