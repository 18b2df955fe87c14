#include "directory.h"

#include <errno.h>
#include <stdlib.h>

#include "address.h"
#include "bytes.h"
#include "engine.h"

static size_t hash(const cping_address *address) {
    uint64_t h = cping__get64(address->bytes) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 29 ^ cping__get64(address->bytes + 8) ^ (uint64_t)address->port << 48) * UINT64_C(0xbf58476d1ce4e5b9);
    return (size_t)(h ^ h >> 32);
}

static cping__target **bucket(const cping__directory *directory, const cping_address *address) {
    return &directory->buckets[hash(address) & (directory->capacity - 1)];
}

static void insert(cping__directory *directory, cping__target *target) {
    cping__target **home = bucket(directory, &target->config.destination);
    target->same_bucket = *home;
    *home = target;
}

int cping__directory_reserve(cping__directory *directory) {
    if (directory->count < directory->capacity) return 0;
    cping__directory larger = {.capacity = directory->capacity ? directory->capacity * 2 : 16, .count = directory->count};
    larger.buckets = calloc(larger.capacity, sizeof *larger.buckets);
    if (!larger.buckets) return -ENOMEM;
    for (size_t i = 0; i < directory->capacity; i++) {
        for (cping__target *target = directory->buckets[i], *next; target; target = next) {
            next = target->same_bucket;
            insert(&larger, target);
        }
    }
    free(directory->buckets);
    *directory = larger;
    return 0;
}

void cping__directory_add(cping__directory *directory, cping__target *target) {
    insert(directory, target);
    directory->count++;
}

void cping__directory_remove(cping__directory *directory, cping__target *target) {
    cping__target **link = bucket(directory, &target->config.destination);
    while (*link != target) link = &(*link)->same_bucket;
    *link = target->same_bucket;
    directory->count--;
}

void cping__directory_destroy(cping__directory *directory) {
    free(directory->buckets);
}

cping__target *cping__directory_find(const cping__directory *directory, const cping__channel *channel,
                                     const cping_address *address, const cping__target *after) {
    if (!directory->buckets) return NULL;
    cping__target *target = after ? after->same_bucket : *bucket(directory, address);
    while (target && !(target->channel == channel && cping__address_matches(&target->config.destination, address))) {
        target = target->same_bucket;
    }
    return target;
}
