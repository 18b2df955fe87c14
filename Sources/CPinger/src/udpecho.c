#include "udpecho.h"

#include <string.h>

#include "bytes.h"

enum { MAGIC = 0, SEQUENCE = 4, TOKEN = 8, PORT = 16 };

static void encode_header(uint8_t header[CPING__UDPECHO_HEADER], const cping__udpecho_key *key) {
    memcpy(header + MAGIC, "CPE1", 4);
    cping__put32(header + SEQUENCE, key->sequence);
    cping__put64(header + TOKEN, key->token);
    cping__put16(header + PORT, key->port);
}

/* Byte `i` of the pattern, from the token on. Without runs, so that it is not easily compressed on the way. */
static uint8_t pattern(const cping__udpecho_key *key, size_t i) {
    uint64_t state = (key->token + i / 8) * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    state ^= state >> 29;
    return (uint8_t)(state >> (i & 7) * 8);
}

void cping__udpecho_encode(uint8_t *packet, size_t length, const cping__udpecho_key *key) {
    encode_header(packet, key);
    for (size_t i = CPING__UDPECHO_HEADER; i < length; i++) packet[i] = pattern(key, i);
}

int cping__udpecho_equals(const uint8_t *bytes, size_t length, const cping__udpecho_key *key) {
    uint8_t header[CPING__UDPECHO_HEADER];
    encode_header(header, key);
    if (length < sizeof header || memcmp(bytes, header, sizeof header) != 0) return 0;
    for (size_t i = CPING__UDPECHO_HEADER; i < length; i++) {
        if (bytes[i] != pattern(key, i)) return 0;
    }
    return 1;
}

int cping__udpecho_parse(const uint8_t *bytes, size_t length, cping__udpecho_key *key) {
    if (length < CPING__UDPECHO_QUOTE || memcmp(bytes, "CPE1", 4) != 0) return -1;
    key->sequence = cping__get32(bytes + SEQUENCE);
    key->token = cping__get64(bytes + TOKEN);
    return 0;
}
