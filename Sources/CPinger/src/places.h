/* The addresses to which a target's pings were sent. After a redirect, a former address stays as long as a ping to it is remembered: the
 * reply must come from that address. */
#pragma once

#include <stdint.h>
#include <sys/queue.h>

#include "cpinger.h"
#include "pending.h"

struct cping__target;

typedef struct cping__place {
    TAILQ_ENTRY(cping__place) link;
    uint32_t number;
    uint64_t pings;
    cping_address address;
} cping__place;

typedef struct cping__places {
    uint32_t number;  /* of the present one; pings have that of theirs */
    uint64_t pings;   /* that were sent to it and are remembered */
    TAILQ_HEAD(, cping__place) former;
} cping__places;

void cping__places_create(cping__places *places);

/* The target's present address becomes a former one. 0 or -ENOMEM. */
int cping__places_move(cping *pinger, struct cping__target *target, const cping_address *address);

/* A ping that is about to be sent; a ping that is forgotten. */
void cping__place_enter(cping__ping *ping);
void cping__place_leave(cping *pinger, cping__ping *ping);

const cping_address *cping__place_of(const cping__ping *ping);
