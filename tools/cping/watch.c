#include "watch.h"

#include <string.h>

void watch_heard(watch *w, uint64_t now_ns) {
    w->quiet_since_ns = now_ns;
    if (w->look_up == WATCH_UNDER_WAY) w->look_up = WATCH_POINTLESS;
}

int watch_wants(watch *w, uint64_t silence_ns, uint64_t now_ns) {
    if (w->look_up != WATCH_IDLE || now_ns < w->quiet_since_ns || now_ns - w->quiet_since_ns < silence_ns) return 0;
    w->look_up = WATCH_UNDER_WAY;
    return 1;
}

static int is_same(const cping_address *a, const cping_address *b) {
    return a->family == b->family && a->scope_id == b->scope_id && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

const cping_address *watch_found(watch *w, const cping_address *present, const cping_address *found, size_t count,
                                 uint64_t now_ns) {
    int is_pointless = w->look_up == WATCH_POINTLESS;
    const cping_address *first = NULL;
    watch_failed(w, now_ns);
    for (size_t i = 0; i < count; i++) {
        /* Stay at the address while the name has it. */
        if (is_same(&found[i], present)) return NULL;
        /* Another family would need another socket. */
        if (!first && found[i].family == present->family) first = &found[i];
    }
    return is_pointless ? NULL : first;
}

void watch_failed(watch *w, uint64_t now_ns) {
    if (w->look_up == WATCH_UNDER_WAY) w->quiet_since_ns = now_ns;
    w->look_up = WATCH_IDLE;
}
