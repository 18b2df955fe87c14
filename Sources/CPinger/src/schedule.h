/* When things are due: the grid of one target, and the agenda of all. No clock is read here. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The times first + n * interval. */
typedef struct cping__grid {
    uint64_t first_ns;
    uint64_t interval_ns;
    uint64_t next;  /* n of the next slot that is not dealt with */
} cping__grid;

uint64_t cping__grid_time(const cping__grid *grid, uint64_t n);

/* How many slots lie between the next one and the one `now` falls into, that one included; 0: the next is still ahead. */
uint64_t cping__grid_due(const cping__grid *grid, uint64_t now_ns);

/* A binary heap by time. Entries are embedded in their owners; an entry with the time CPING__NEVER is not in the heap. */
typedef struct cping__entry {
    uint64_t time_ns;
    size_t place;  /* 1-based index into the heap; 0: not in it */
} cping__entry;

typedef struct cping__agenda {
    cping__entry **entries;
    size_t count, capacity;
} cping__agenda;

/* Room for one more entry must be made when its owner is created, so that scheduling itself cannot fail. */
int cping__agenda_reserve(cping__agenda *agenda, size_t count);
void cping__agenda_set(cping__agenda *agenda, cping__entry *entry, uint64_t time_ns);
cping__entry *cping__agenda_first(const cping__agenda *agenda);
void cping__agenda_destroy(cping__agenda *agenda);
