/* Echo replies of both families, with and without an IPv4 header in front. The first byte selects the kind, and whether pattern and
 * checksum are corrected first: chance would never find replies that pass. */
#include "bytes.h"
#include "fuzz.h"
#include "icmp.h"

enum { SIX = 1, RAW = 2, REPAIR = 4 };

static uint16_t sum_of(const uint8_t *bytes, size_t length) {
    uint32_t sum = 0;
    for (size_t i = 0; i < length; i++) sum += i & 1 ? bytes[i] : (uint32_t)bytes[i] << 8;
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

static void repair(uint8_t *bytes, size_t length, uint8_t family) {
    if (length < CPING__ICMP_HEADER + CPING__ICMP_KEY) return;
    uint64_t token = cping__get64(bytes + 8);
    uint32_t sequence = cping__get32(bytes + 16);
    bytes[0] = family == 4 ? 0 : 129;
    cping__put16(bytes + 6, (uint16_t)sequence);
    cping__fill_payload(bytes + CPING__ICMP_HEADER, length - CPING__ICMP_HEADER, sequence, token);
    cping__put16(bytes + 2, 0);
    cping__put16(bytes + 2, (uint16_t)~sum_of(bytes, length));
}

static void check_accepted(const uint8_t *bytes, size_t length, uint8_t family, const cping__echo *echo) {
    uint8_t *request = malloc(length);
    HOLDS(request && length >= CPING__ICMP_HEADER + CPING__ICMP_KEY);
    cping__icmp_encode(request, length - CPING__ICMP_HEADER, family, echo->identifier, echo->sequence, echo->token);
    HOLDS(memcmp(request + 4, bytes + 4, length - 4) == 0);
    HOLDS(bytes[0] == (family == 4 ? 0 : 129) && bytes[1] == 0);
    if (family == 4) HOLDS(sum_of(bytes, length) == 0xffff);
    free(request);
}

static void check(uint8_t *bytes, size_t size, uint8_t mode) {
    uint8_t family = mode & SIX ? 6 : 4;
    int header = family == 4 && mode & RAW ? cping__icmp_ip_header(bytes, size) : 0;
    if (header < 0) return;
    HOLDS((size_t)header <= size && header <= 60);
    uint8_t *message = bytes + header;
    size_t length = size - (size_t)header;
    if (mode & REPAIR) repair(message, length, family);
    cping__echo echo;
    enum cping__icmp_reply reply = cping__icmp_parse(message, length, family, &echo);
    if (reply == CPING__ICMP_ECHO_REPLY) check_accepted(message, length, family, &echo);
    HOLDS(echo.has_key == 0 || length >= CPING__ICMP_HEADER + CPING__ICMP_KEY);
    if (cping__icmp_parse_quote(message, length, family, &echo) == 0) {
        HOLDS(message[0] == (family == 4 ? 8 : 128) && echo.identifier == cping__get16(message + 4));
        HOLDS(echo.has_key == (length >= CPING__ICMP_HEADER + CPING__ICMP_KEY));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    /* The last byte lies at the end of the allocation. */
    uint8_t *copy = malloc(size);
    HOLDS(copy != NULL);
    memcpy(copy, data, size);
    check(copy + 1, size - 1, data[0]);
    free(copy);
    return 0;
}
