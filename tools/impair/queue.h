#ifndef IMPAIR_QUEUE_H
#define IMPAIR_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "packet.h"
#include "profile.h"

struct times {
    int64_t realtime_ns, monotonic_ns;
};

/* A packet on its way, with all that the log will say about it. */
struct parcel {
    int64_t due_ns;      /* CLOCK_MONOTONIC */
    uint64_t order;      /* parcels due at the same time leave as they came */
    enum direction direction;
    uint64_t number;     /* of the packet within its direction; packets that are no subject have their own numbers */
    int copy;            /* 0: the packet, 1: its copy */
    struct fate fate;
    int bit;             /* that was flipped; -1: none */
    struct packet_id id;
    uint64_t hash_in;    /* of the payload as it came */
    struct times in;
    size_t length;
    uint8_t bytes[];
};

/* A heap by due time. */
struct queue {
    struct parcel **items;
    size_t count, capacity;
};

/* 0, or -1 when it holds `capacity` parcels. */
int queue_push(struct queue *queue, struct parcel *parcel);
/* The one that is due first, or NULL. */
struct parcel *queue_first(const struct queue *queue);
struct parcel *queue_pop(struct queue *queue);

#endif
