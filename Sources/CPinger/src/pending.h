/* The pings that are under way or may still be heard of, found by their sequence. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cpinger.h"
#include "stamps.h"

struct cping__target;
struct cping__reply;

enum cping__state {
    CPING__OPEN,      /* no reply, no verdict; in the target's `open_pings` */
    CPING__REPLIED,   /* a reply is here; its verdict waits a moment for the send stamp; in the pinger's `stamp_waiters` */
    CPING__LOST,      /* verdict given, nothing heard of it: the next reply is late; in the pinger's `finished` */
    CPING__FAILED,    /* the same, but an ICMP error was heard */
    CPING__ANSWERED,  /* a reply was reported: the next one is a duplicate; in the pinger's `finished` */
};

/* The far side's knowledge of a ping, by later one-way replies. */
enum cping__far { CPING__FAR_UNKNOWN, CPING__FAR_MISSING, CPING__FAR_SEEN };

typedef struct cping__ping {
    TAILQ_ENTRY(cping__ping) link;  /* of the list its state says */
    struct cping__ping *chain;      /* same bucket, or the free list */
    struct cping__target *target;
    struct cping__reply *reply;     /* while the verdict waits */
    uint32_t sequence;
    uint32_t number;  /* of the sent ones of its target, from 1; goes round, unlike `slot` */
    uint32_t place;   /* where it was sent: see places.h */
    uint8_t state;  /* enum cping__state */
    uint8_t far;    /* enum cping__far */
    uint8_t elsewhere;  /* a reply from another address was reported */
    uint64_t slot, slot_ns;
    uint64_t token;
    cping__moment sent;
} cping__ping;

TAILQ_HEAD(cping__pings, cping__ping);

typedef struct cping__pending {
    cping__ping **buckets;
    size_t capacity;  /* of buckets, a power of two, and of pings in `blocks` */
    size_t count;
    cping__ping *unused;     /* forgotten ones */
    cping__ping *untouched;  /* of the newest block */
    size_t untouched_left;
    struct cping__block *blocks;
} cping__pending;

enum { CPING__PENDING_LIMIT = 1 << 20 };

/* A zeroed ping under this sequence; NULL when there are CPING__PENDING_LIMIT already or no memory is left. */
cping__ping *cping__pending_add(cping__pending *pending, uint32_t sequence);
cping__ping *cping__pending_find(const cping__pending *pending, uint32_t sequence);
void cping__pending_remove(cping__pending *pending, cping__ping *ping);
void cping__pending_destroy(cping__pending *pending);
