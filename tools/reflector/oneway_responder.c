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

/* Returns 0 for a number that was seen before. A number before the history counts as seen, because it is unknown. */
static int mark(struct oneway_session *session, uint32_t number) {
    int32_t ahead = (int32_t)(number - session->newest);
    if (ahead > 0) {
        session->history = ahead < WIDTH ? session->history << ahead : 0;
        if (ahead <= WIDTH) session->history |= (oneway_history)1 << (ahead - 1);
        session->newest = number;
        return 1;
    }
    if (ahead == 0 || ahead < -WIDTH) return 0;
    oneway_history bit = (oneway_history)1 << (-ahead - 1);
    int is_new = (session->history & bit) == 0;
    session->history |= bit;
    return is_new;
}

/* Bit n: `number` - 1 - n had arrived. For a late request some of them are unknown. */
static uint64_t history_before(const struct oneway_session *session, uint32_t number, uint32_t *flags) {
    uint32_t behind = session->newest - number;
    if (behind <= WIDTH - 64) return (uint64_t)(session->history >> behind);
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
