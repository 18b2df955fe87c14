/* The pings that are under way or may still be heard of, found by their sequence. */
#ifndef CPING__PENDING_H
#define CPING__PENDING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cpinger.h"
#include "stamps.h"

struct cping__target;

enum cping__state {
    CPING__OPEN,      /* no reply, no verdict */
    CPING__REPLIED,   /* a reply is here; its verdict waits a moment for the send stamp */
    CPING__LOST,      /* verdict given, no reply seen: the next one is late */
    CPING__ANSWERED,  /* a reply was reported: the next one is a duplicate */
};

typedef struct cping__ping {
    TAILQ_ENTRY(cping__ping) of_target;  /* in order of sending */
    TAILQ_ENTRY(cping__ping) of_stamps;  /* those in CPING__REPLIED, in order of arrival */
    struct cping__ping *chain;           /* same bucket, or the free list */
    struct cping__target *target;
    enum cping__state state;
    uint32_t sequence;
    uint64_t slot, slot_ns;
    uint64_t token;
    cping__moment sent;
    /* The reply, while its verdict waits. */
    cping__moment received;
    cping_address from;
    int refused;
} cping__ping;

TAILQ_HEAD(cping__pings, cping__ping);

enum { CPING__PENDING_LIMIT = 1 << 16 };

typedef struct cping__pending {
    cping__ping **buckets;
    size_t capacity;  /* of buckets, a power of two, and of pings in `blocks` */
    size_t count;
    cping__ping *unused;
    struct cping__block *blocks;
} cping__pending;

/* A zeroed ping under this sequence; NULL when there are CPING__PENDING_LIMIT already or no memory is left. */
cping__ping *cping__pending_add(cping__pending *pending, uint32_t sequence);
cping__ping *cping__pending_find(const cping__pending *pending, uint32_t sequence);
void cping__pending_remove(cping__pending *pending, cping__ping *ping);
void cping__pending_destroy(cping__pending *pending);

#endif
