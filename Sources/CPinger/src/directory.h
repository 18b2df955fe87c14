/* Targets by where they are, for datagrams whose sequence says nothing. */
#pragma once

#include <stddef.h>

#include "channel.h"

struct cping__target;

typedef struct cping__directory {
    struct cping__target **buckets;
    size_t capacity, count;
} cping__directory;

/* Room for one more must be made before it is added. 0 or -ENOMEM. */
int cping__directory_reserve(cping__directory *directory);
void cping__directory_add(cping__directory *directory, struct cping__target *target);
void cping__directory_remove(cping__directory *directory, struct cping__target *target);
void cping__directory_destroy(cping__directory *directory);

/* The next target after `after` (NULL: the first) of this channel at this address; NULL: no more. */
struct cping__target *cping__directory_find(const cping__directory *directory, const cping__channel *channel,
                                            const cping_address *address, const struct cping__target *after);
