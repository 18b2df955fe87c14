/* When the name of something that is pinged is looked up again, and what comes of it: the rules of the Swift half's NameWatch.
 * A server that moves leaves its old address silent. So does a network that is down: then looking up fails or finds the same
 * address, and the next attempt comes after as long a silence again. No clock is read here. */
#ifndef WATCH_H
#define WATCH_H

#include <stddef.h>
#include <stdint.h>

#include "cpinger.h"

typedef struct watch {
    uint64_t quiet_since_ns;
    /* POINTLESS: the address has answered in the meantime; what is found does not matter any more. */
    enum { WATCH_IDLE, WATCH_UNDER_WAY, WATCH_POINTLESS } look_up;
} watch;

/* The address has answered. */
void watch_heard(watch *w, uint64_t now_ns);

/* Whether to look the name up now. After 1, `watch_found` or `watch_failed` must follow. */
int watch_wants(watch *w, uint64_t silence_ns, uint64_t now_ns);

/* The name, pinged at `present`, has these addresses. Returns the one that shall be pinged from now on; NULL: `present`. */
const cping_address *watch_found(watch *w, const cping_address *present, const cping_address *found, size_t count,
                                 uint64_t now_ns);
void watch_failed(watch *w, uint64_t now_ns);

#endif
