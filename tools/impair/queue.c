#include "queue.h"

static int is_before(const struct parcel *a, const struct parcel *b) {
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

int queue_push(struct queue *queue, struct parcel *parcel) {
    if (queue->count == queue->capacity) return -1;
    size_t i = queue->count++;
    for (; i > 0 && is_before(parcel, queue->items[(i - 1) / 2]); i = (i - 1) / 2) {
        queue->items[i] = queue->items[(i - 1) / 2];
    }
    queue->items[i] = parcel;
    return 0;
}

struct parcel *queue_first(const struct queue *queue) {
    return queue->count ? queue->items[0] : NULL;
}

struct parcel *queue_pop(struct queue *queue) {
    if (queue->count == 0) return NULL;
    struct parcel *first = queue->items[0], *last = queue->items[--queue->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < queue->count; i = child) {
        if (child + 1 < queue->count && is_before(queue->items[child + 1], queue->items[child])) child++;
        if (!is_before(queue->items[child], last)) break;
        queue->items[i] = queue->items[child];
    }
    queue->items[i] = last;
    return first;
}
