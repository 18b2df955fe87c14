#include "pending.h"

#include <stdlib.h>
#include <string.h>

/* Pings never move, since lists point to them: memory grows by blocks, each as large as all before it. */
struct cping__block {
    struct cping__block *next;
    cping__ping pings[];
};

/* Sequences are consecutive, so that their low bits spread over the buckets as evenly as can be. */
static cping__ping **bucket(const cping__pending *pending, uint32_t sequence) {
    return &pending->buckets[sequence & (pending->capacity - 1)];
}

static void rehash(cping__pending *pending, cping__ping **old, size_t old_capacity) {
    for (size_t i = 0; i < old_capacity; i++) {
        for (cping__ping *ping = old[i], *next; ping; ping = next) {
            next = ping->chain;
            cping__ping **home = bucket(pending, ping->sequence);
            ping->chain = *home;
            *home = ping;
        }
    }
    free(old);
}

static int grow(cping__pending *pending) {
    size_t more = pending->capacity ? pending->capacity : 64;
    if (pending->capacity + more > CPING__PENDING_LIMIT) return -1;
    cping__ping **buckets = calloc(pending->capacity + more, sizeof(cping__ping *));
    struct cping__block *block = malloc(sizeof *block + more * sizeof(cping__ping));
    if (!buckets || !block) {
        free(buckets);
        free(block);
        return -1;
    }
    cping__ping **old = pending->buckets;
    pending->buckets = buckets;
    pending->capacity += more;
    rehash(pending, old, pending->capacity - more);
    block->next = pending->blocks;
    pending->blocks = block;
    pending->untouched = block->pings;
    pending->untouched_left = more;
    return 0;
}

/* Reuse entries first: memory that was never touched costs nothing. */
static cping__ping *take_unused(cping__pending *pending) {
    cping__ping *ping = pending->unused;
    if (ping) {
        pending->unused = ping->chain;
        return ping;
    }
    if (pending->untouched_left == 0 && grow(pending) != 0) return NULL;
    pending->untouched_left--;
    return pending->untouched++;
}

cping__ping *cping__pending_add(cping__pending *pending, uint32_t sequence) {
    cping__ping *ping = take_unused(pending);
    if (!ping) return NULL;
    cping__ping **home = bucket(pending, sequence);
    memset(ping, 0, sizeof *ping);
    ping->sequence = sequence;
    ping->chain = *home;
    *home = ping;
    pending->count++;
    return ping;
}

cping__ping *cping__pending_find(const cping__pending *pending, uint32_t sequence) {
    if (!pending->buckets) return NULL;
    cping__ping *ping = *bucket(pending, sequence);
    while (ping && ping->sequence != sequence) ping = ping->chain;
    return ping;
}

void cping__pending_remove(cping__pending *pending, cping__ping *ping) {
    cping__ping **link = bucket(pending, ping->sequence);
    while (*link != ping) link = &(*link)->chain;
    *link = ping->chain;
    ping->chain = pending->unused;
    pending->unused = ping;
    pending->count--;
}

void cping__pending_destroy(cping__pending *pending) {
    for (struct cping__block *block = pending->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(pending->buckets);
}
