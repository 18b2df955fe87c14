#include "oneway.h"

#include <string.h>

#include "bytes.h"

enum { MAGIC = 0, NUMBER = 4, TOKEN = 8, SESSION = 16, SEQUENCE = 24, FLAGS = 28, RECEIVE = 32, SEND = 40, HISTORY = 48,
       RECEIVED = 56, SENT = 60, DUPLICATES = 64, CHECK = 68 };

/* FNV-1a over all bytes but its own: UDP's checksum is optional, and weak. */
static uint32_t check_of(const uint8_t *bytes, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) {
        if (i >= CHECK && i < CHECK + 4) continue;
        hash = (hash ^ bytes[i]) * 16777619u;
    }
    return hash;
}

static void read_key(const uint8_t *bytes, cping__oneway_key *key) {
    key->number = cping__get32(bytes + NUMBER);
    key->token = cping__get64(bytes + TOKEN);
    key->session = cping__get64(bytes + SESSION);
    key->sequence = cping__get32(bytes + SEQUENCE);
}

static int is_intact(const uint8_t *bytes, size_t length) {
    return cping__get32(bytes + CHECK) == check_of(bytes, length);
}

void cping__oneway_encode(uint8_t *packet, size_t length, const cping__oneway_key *key) {
    memset(packet, 0, length);
    memcpy(packet, "CPQ1", 4);
    cping__put32(packet + NUMBER, key->number);
    cping__put64(packet + TOKEN, key->token);
    cping__put64(packet + SESSION, key->session);
    cping__put32(packet + SEQUENCE, key->sequence);
    /* The rest repeats the token, so that it is not easily compressed on the way. */
    uint64_t state = key->token;
    for (size_t i = CPING__ONEWAY_HEADER; i < length; i++) {
        if ((i & 7) == 0) state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        packet[i] = (uint8_t)(state >> (i & 7) * 8);
    }
    cping__put32(packet + CHECK, check_of(packet, length));
}

enum cping__oneway_reply cping__oneway_parse(const uint8_t *bytes, size_t length, cping__oneway *reply) {
    *reply = (cping__oneway){0};
    if (length < CPING__ONEWAY_HEADER) return CPING__ONEWAY_SHORT;
    if (memcmp(bytes, "CPR1", 4) != 0) return CPING__ONEWAY_OTHER;
    read_key(bytes, &reply->key);
    reply->flags = cping__get32(bytes + FLAGS);
    reply->receive_ns = cping__get64(bytes + RECEIVE);
    reply->send_ns = cping__get64(bytes + SEND);
    reply->history = cping__get64(bytes + HISTORY);
    reply->received = cping__get32(bytes + RECEIVED);
    reply->sent = cping__get32(bytes + SENT);
    reply->duplicates = cping__get32(bytes + DUPLICATES);
    return is_intact(bytes, length) ? CPING__ONEWAY_REPLY : CPING__ONEWAY_CORRUPT;
}

int cping__oneway_parse_quote(const uint8_t *bytes, size_t length, cping__oneway_key *key) {
    if (length < CPING__ONEWAY_QUOTE || memcmp(bytes, "CPQ1", 4) != 0) return -1;
    read_key(bytes, key);
    return 0;
}

int cping__oneway_parse_request(const uint8_t *bytes, size_t length, cping__oneway_key *key) {
    if (length < CPING__ONEWAY_HEADER || memcmp(bytes, "CPQ1", 4) != 0 || !is_intact(bytes, length)) return -1;
    read_key(bytes, key);
    return 0;
}

void cping__oneway_make_reply(uint8_t *packet, size_t length, const cping__oneway *reply) {
    memcpy(packet, "CPR1", 4);
    cping__put32(packet + FLAGS, reply->flags);
    cping__put64(packet + RECEIVE, reply->receive_ns);
    cping__put64(packet + SEND, reply->send_ns);
    cping__put64(packet + HISTORY, reply->history);
    cping__put32(packet + RECEIVED, reply->received);
    cping__put32(packet + SENT, reply->sent);
    cping__put32(packet + DUPLICATES, reply->duplicates);
    cping__put32(packet + CHECK, check_of(packet, length));
}
