#include "schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"

uint64_t cping__grid_time(const cping__grid *grid, uint64_t n) {
    return grid->first_ns + n * grid->interval_ns;
}

uint64_t cping__grid_due(const cping__grid *grid, uint64_t now_ns) {
    uint64_t next_ns = cping__grid_time(grid, grid->next);
    return now_ns < next_ns ? 0 : 1 + (now_ns - next_ns) / grid->interval_ns;
}

static void place(cping__agenda *agenda, cping__entry *entry, size_t at) {
    agenda->entries[at - 1] = entry;
    entry->place = at;
}

static void sift_up(cping__agenda *agenda, cping__entry *entry, size_t at) {
    while (at > 1 && agenda->entries[at / 2 - 1]->time_ns > entry->time_ns) {
        place(agenda, agenda->entries[at / 2 - 1], at);
        at /= 2;
    }
    place(agenda, entry, at);
}

static void sift_down(cping__agenda *agenda, cping__entry *entry, size_t at) {
    for (size_t child; (child = 2 * at) <= agenda->count; at = child) {
        if (child < agenda->count && agenda->entries[child]->time_ns < agenda->entries[child - 1]->time_ns) child++;
        if (agenda->entries[child - 1]->time_ns >= entry->time_ns) break;
        place(agenda, agenda->entries[child - 1], at);
    }
    place(agenda, entry, at);
}

static void take_out(cping__agenda *agenda, cping__entry *entry) {
    size_t at = entry->place;
    cping__entry *last = agenda->entries[--agenda->count];
    entry->place = 0;
    if (last == entry) return;
    sift_up(agenda, last, at);
    sift_down(agenda, last, last->place);
}

int cping__agenda_reserve(cping__agenda *agenda, size_t count) {
    if (count <= agenda->capacity) return 0;
    size_t capacity = agenda->capacity ? agenda->capacity * 2 : 8;
    while (capacity < count) capacity *= 2;
    cping__entry **entries = realloc(agenda->entries, capacity * sizeof(cping__entry *));
    if (!entries) return -ENOMEM;
    agenda->entries = entries;
    agenda->capacity = capacity;
    return 0;
}

void cping__agenda_set(cping__agenda *agenda, cping__entry *entry, uint64_t time_ns) {
    if (entry->place && entry->time_ns == time_ns) return;
    if (entry->place) take_out(agenda, entry);
    entry->time_ns = time_ns;
    if (time_ns != CPING__NEVER) sift_up(agenda, entry, ++agenda->count);
}

cping__entry *cping__agenda_first(const cping__agenda *agenda) {
    return agenda->count ? agenda->entries[0] : NULL;
}

void cping__agenda_destroy(cping__agenda *agenda) {
    free(agenda->entries);
}
