/* The one-way format (docs/one-way-format.md): counters and seen pings of each session. */
#ifndef REFLECTOR_ONEWAY_RESPONDER_H
#define REFLECTOR_ONEWAY_RESPONDER_H

#include <stddef.h>
#include <stdint.h>

#include "oneway.h"

/* The number of sessions, and of places for each hash value. A new session replaces the one that was silent for longest among those with
 * the same hash value. */
enum { ONEWAY_SESSIONS = 1024, ONEWAY_WAYS = 8 };

struct oneway_session {
    uint64_t id;
    uint8_t address[16];
    uint64_t last_ns;
    int is_used;
    uint32_t newest;   /* number */
    uint64_t history[2];  /* bit n of the first: number newest - 1 - n has arrived; the second continues with n = 64 */
    uint32_t received, sent, duplicates;
};

struct oneway_responder {
    struct oneway_session sessions[ONEWAY_SESSIONS];
};

/* Counts the request and fills in the reply, except for the send stamp and `sent`, which the caller sets on sending. Returns the
 * session. */
struct oneway_session *oneway_note(struct oneway_responder *responder, const cping__oneway_key *key,
                                   const uint8_t address[16], uint64_t receive_ns, int is_kernel_stamp,
                                   cping__oneway *reply);

#endif
