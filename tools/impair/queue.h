#ifndef IMPAIR_QUEUE_H
#define IMPAIR_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "packet.h"
#include "profile.h"

struct times {
    int64_t realtime_ns, monotonic_ns;
};

/* A packet under way, with the values for its log line. */
struct parcel {
    int64_t due_ns;      /* CLOCK_MONOTONIC */
    uint64_t order;      /* parcels due at the same time leave in this order */
    enum direction direction;
    uint64_t number;     /* of the packet within its direction */
    int copy;            /* 0: the packet, 1: its copy */
    struct fate fate;
    int bit;             /* that was flipped; -1: none */
    struct packet_id id;
    uint64_t hash_in;    /* of the payload as received */
    struct times in;
    size_t length;
    uint8_t bytes[];
};

/* A heap by due time. */
struct queue {
    struct parcel **items;
    size_t count, capacity;
};

/* Returns 0, or -1 if the queue is full. */
int queue_push(struct queue *queue, struct parcel *parcel);
/* The parcel that is due first, or NULL. */
struct parcel *queue_first(const struct queue *queue);
struct parcel *queue_pop(struct queue *queue);

#endif
