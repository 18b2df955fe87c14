/* Looks names up beside the pinging, several at a time. One thread asks child processes: neither the time that the C library's
 * resolver takes nor its memory is the pinger's. */
#ifndef RESOLVER_H
#define RESOLVER_H

#include <sys/queue.h>

#include "names.h"

struct worker;
struct subject;

typedef struct question {
    STAILQ_ENTRY(question) link;
    struct worker *asker;
    struct subject *subject;
    const char *name;  /* lives as long as the resolver */
    int family;
    answer answer;
} question;

typedef struct resolver resolver;

/* 0 or a negative errno. */
int resolver_start(resolver **started);

/* Ends the look-ups that are under way. NULL is allowed. */
void resolver_stop(resolver *r);

/* The asker is told by `worker_answered` when it is answered. 0 or a negative errno: then nothing comes. */
int resolver_ask(resolver *r, struct worker *asker, struct subject *subject, const char *name, int family);

/* The next answer to the asker, who frees it; NULL: no more. */
question *resolver_answer(resolver *r, const struct worker *asker);

#endif
