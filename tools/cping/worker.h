/* A pinger with its share of the targets, driven by one thread. */
#ifndef WORKER_H
#define WORKER_H

#include <stdatomic.h>
#include <stddef.h>

#include "cpinger.h"
#include "options.h"
#include "resolver.h"
#include "subject.h"

typedef struct worker {
    const options *options;
    cping *pinger;
    subject **subjects;  /* in order of their ids */
    size_t count, capacity, done;
    atomic_int is_ending, wants_summary;  /* set from outside, followed by worker_wake */
    resolver *resolver;      /* NULL: no target of the run has a name */
    atomic_int is_answered;  /* by the resolver */
    uint64_t next_look_ns;   /* at silent targets */
} worker;

/* 0 or a negative errno. */
int worker_open(worker *w, const options *o);
void worker_close(worker *w);

/* Adds a subject whose target is resolved, and takes ownership. Returns NULL, or the error; the subject then stays the caller's. */
const char *worker_add(worker *w, subject *s);

/* Pings until all targets are done, the time is up, or it has to end. */
void worker_run(worker *w);

/* From a signal handler or another thread. */
void worker_wake(worker *w);

/* From the resolver: there is an answer for it. */
void worker_answered(worker *w);

#endif
