#define _GNU_SOURCE
#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

int worker_open(worker *w, const options *o) {
    cping_options settings = {.flags = CPING_OPTION_THREADLESS | o->pinger_flags, .remembered = o->remembered};
    w->options = o;
    return cping_create(&settings, &w->pinger);
}

void worker_close(worker *w) {
    cping_destroy(w->pinger);
    for (size_t i = 0; i < w->count; i++) {
        subject_clear(w->subjects[i]);
        free(w->subjects[i]);
    }
    free(w->subjects);
}

static int reserve(worker *w) {
    if (w->count < w->capacity) return 0;
    size_t capacity = w->capacity ? w->capacity * 2 : 8;
    subject **subjects = realloc(w->subjects, capacity * sizeof(subject *));
    if (!subjects) return -1;
    w->subjects = subjects;
    w->capacity = capacity;
    return 0;
}

const char *worker_add(worker *w, subject *s) {
    static char text[320];
    if (reserve(w) != 0) return "no memory is left";
    s->id = cping_add(w->pinger, &s->target);
    if (s->id > 0) {
        w->subjects[w->count++] = s;
        return NULL;
    }
    cping_diagnose(&s->target, text, sizeof text);
    return text;
}

void worker_wake(worker *w) {
    cping_wake(w->pinger);
}

/* ---- Events ---- */

static subject *find(const worker *w, int64_t id) {
    size_t low = 0, high = w->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (w->subjects[middle]->id < id) low = middle + 1;
        else high = middle;
    }
    return low < w->count && w->subjects[low]->id == id ? w->subjects[low] : NULL;
}

static void take(worker *w, const cping_event *event) {
    subject *s = find(w, event->target);
    if (!s) return;
    int was_done = s->is_done;
    subject_note(s, event);
    w->done += (size_t)(s->is_done && !was_done);
    report_event(w->options, s, event);
}

static void read_all(worker *w) {
    cping_event events[16];
    size_t count;
    while ((count = cping_read(w->pinger, events, 16)) > 0) {
        for (size_t i = 0; i < count; i++) take(w, &events[i]);
    }
}

static void summarise(worker *w) {
    flockfile(stdout);
    for (size_t i = 0; i < w->count; i++) report_summary(w->options, w->subjects[i], w->pinger);
    fflush(stdout);
    funlockfile(stdout);
}

static int milliseconds_until(uint64_t time_ns) {
    if (time_ns == 0) return -1;
    uint64_t now_ns = cping_now();
    if (now_ns >= time_ns) return 0;
    uint64_t left_ms = (time_ns - now_ns + 999999) / 1000000;
    return left_ms < 3600000 ? (int)left_ms : 3600000;
}

/* ---- Names ---- */

enum { LOOK_EVERY_MS = 1000 };

static void move(worker *w, subject *s, const cping_address *to) {
    char before[sizeof s->address];
    int error = cping_redirect(w->pinger, s->id, to);
    memcpy(before, s->address, sizeof before);
    if (error == 0) subject_move(s, to);
    report_move(w->options, s, before, to, error);
}

static void take_answer(worker *w, const question *q) {
    subject *s = q->subject;
    const cping_address *found =
        watch_found(&s->watch, &s->target.destination, q->answer.addresses, q->answer.count, cping_now());
    if (!found || s->is_done) return;
    cping_address to = *found;
    to.port = s->target.destination.port;
    move(w, s, &to);
}

static void look_at_names(worker *w) {
    if (!w->resolver) return;
    if (atomic_exchange(&w->is_answered, 0)) {
        for (question *q; (q = resolver_answer(w->resolver, w)); free(q)) take_answer(w, q);
    }
    uint64_t now_ns = cping_now();
    if (now_ns < w->next_look_ns) return;
    w->next_look_ns = now_ns + LOOK_EVERY_MS * UINT64_C(1000000);
    for (size_t i = 0; i < w->count; i++) {
        subject *s = w->subjects[i];
        if (!s->is_named || s->is_done || !watch_wants(&s->watch, w->options->silence_ns, now_ns)) continue;
        int family = s->target.destination.family;
        if (resolver_ask(w->resolver, w, s, s->name, family) != 0) watch_failed(&s->watch, now_ns);
    }
}

void worker_answered(worker *w) {
    atomic_store(&w->is_answered, 1);
    worker_wake(w);
}

/* ---- Running ---- */

/* Until all targets are done, the time is up (0: never) or a signal ends it. */
static void work_until(worker *w, uint64_t end_ns, int is_lingering) {
    while (!w->is_ending && (is_lingering || w->done < w->count)) {
        int left_ms = milliseconds_until(end_ns);
        if (left_ms == 0) return;
        if (w->resolver && (left_ms < 0 || left_ms > LOOK_EVERY_MS)) left_ms = LOOK_EVERY_MS;
        if (cping_wait(w->pinger, left_ms) < 0) return;
        read_all(w);
        look_at_names(w);
        if (atomic_exchange(&w->wants_summary, 0)) summarise(w);
        /* Flush, so that lines appear at once; not in a flood, where a write for each line costs too much. */
        if (!(w->options->target.flags & CPING_TARGET_FLOOD)) fflush(stdout);
    }
}

void worker_run(worker *w) {
    uint64_t now_ns = cping_now();
    uint64_t deadline_ns = w->options->deadline_ns ? now_ns + w->options->deadline_ns : 0;
    work_until(w, deadline_ns, 0);
    if (w->done == w->count && w->options->linger_ns) work_until(w, cping_now() + w->options->linger_ns, 1);
    /* Cancel the pings under way, and report them. */
    cping_shutdown(w->pinger);
    while (cping_wait(w->pinger, 0) > 0) read_all(w);
}
