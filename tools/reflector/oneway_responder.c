#include "oneway_responder.h"

#include <string.h>

static int is_session(const struct oneway_session *session, uint64_t id, const uint8_t address[16]) {
    return session->is_used && session->id == id && memcmp(session->address, address, 16) == 0;
}

/* The session; for a new one, its place, which is empty. */
static struct oneway_session *find(struct oneway_responder *responder, uint64_t id, const uint8_t address[16]) {
    size_t set = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 40) % (ONEWAY_SESSIONS / ONEWAY_WAYS);
    struct oneway_session *ways = &responder->sessions[set * ONEWAY_WAYS], *oldest = ways;
    for (int i = 0; i < ONEWAY_WAYS; i++) {
        if (is_session(&ways[i], id, address)) return &ways[i];
        if (ways[i].last_ns < oldest->last_ns) oldest = &ways[i];
    }
    memset(oldest, 0, sizeof *oldest);
    return oldest;
}

enum { WIDTH = 128 };

/* Moves the history by `numbers`, at least 1. Two words and no __int128, which 32-bit targets lack. */
static void advance(uint64_t history[2], uint32_t numbers) {
    if (numbers < 64) {
        history[1] = history[1] << numbers | history[0] >> (64 - numbers);
        history[0] <<= numbers;
    } else {
        history[1] = numbers < WIDTH ? history[0] << (numbers - 64) : 0;
        history[0] = 0;
    }
}

/* Returns 0 for a number that was seen before. A number before the history counts as seen, because it is unknown. */
static int mark(struct oneway_session *session, uint32_t number) {
    int32_t ahead = (int32_t)(number - session->newest);
    if (ahead > 0) {
        advance(session->history, (uint32_t)ahead);
        if (ahead <= WIDTH) session->history[(ahead - 1) / 64] |= UINT64_C(1) << (ahead - 1) % 64;
        session->newest = number;
        return 1;
    }
    if (ahead == 0 || ahead < -WIDTH) return 0;
    uint64_t *word = &session->history[(-ahead - 1) / 64], bit = UINT64_C(1) << (-ahead - 1) % 64;
    int is_new = (*word & bit) == 0;
    *word |= bit;
    return is_new;
}

/* Bit n: `number` - 1 - n had arrived. For a late request some of them are unknown. */
static uint64_t history_before(const struct oneway_session *session, uint32_t number, uint32_t *flags) {
    uint32_t behind = session->newest - number;
    const uint64_t *history = session->history;
    if (behind == 0) return history[0];
    if (behind < 64) return history[0] >> behind | history[1] << (64 - behind);
    if (behind == 64) return history[1];
    *flags |= CPING__ONEWAY_NO_HISTORY;
    return 0;
}

struct oneway_session *oneway_note(struct oneway_responder *responder, const cping__oneway_key *key,
                                   const uint8_t address[16], uint64_t receive_ns, int is_kernel_stamp,
                                   cping__oneway *reply) {
    struct oneway_session *session = find(responder, key->session, address);
    int is_new = !session->is_used;
    if (is_new) {
        session->is_used = 1;
        session->id = key->session;
        memcpy(session->address, address, 16);
        session->newest = key->number;
    }
    session->last_ns = receive_ns;
    session->received++;
    if (!is_new && !mark(session, key->number)) session->duplicates++;
    *reply = (cping__oneway){.key = *key, .receive_ns = receive_ns, .received = session->received,
                             .duplicates = session->duplicates};
    reply->flags = (is_kernel_stamp ? CPING__ONEWAY_KERNEL_STAMP : 0u) | (is_new ? CPING__ONEWAY_RESTARTED : 0u);
    reply->history = history_before(session, key->number, &reply->flags);
    return session;
}
