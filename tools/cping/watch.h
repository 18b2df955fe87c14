/* Decides when the name of a target is resolved again, with the rules of the Swift half's NameWatch. A server that moves to another
 * address no longer answers at the old one. During a network outage the address is silent, too: resolving then fails or yields the same
 * address, and the next attempt follows after the same time of silence. It reads no clock. */
#ifndef WATCH_H
#define WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "cpinger.h"

typedef struct watch {
    uint64_t quiet_since_ns;
    /* POINTLESS: the address has answered since; the result is ignored. */
    enum { WATCH_IDLE, WATCH_UNDER_WAY, WATCH_POINTLESS } look_up;
} watch;

/* The address has answered. */
void watch_heard(watch *w, uint64_t now_ns);

/* Whether to resolve the name now. After 1, call `watch_found` or `watch_failed`. */
int watch_wants(watch *w, uint64_t silence_ns, uint64_t now_ns);

/* The name, pinged at `present`, has these addresses. Returns the new address for pings; NULL: `present` stays. */
const cping_address *watch_found(watch *w, const cping_address *present, const cping_address *found, size_t count,
                                 uint64_t now_ns);
void watch_failed(watch *w, uint64_t now_ns);

#endif
