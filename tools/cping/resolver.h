/* Resolves names concurrently with the pings, several at a time. One thread uses child processes, so that the C library's resolver costs
 * the pinger neither time nor memory. */
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

/* Calls `worker_answered` of the asker when the answer is there. 0, or a negative errno: then there is no answer. */
int resolver_ask(resolver *r, struct worker *asker, struct subject *subject, const char *name, int family);

/* The next answer to the asker, which frees it; NULL: none. */
question *resolver_answer(resolver *r, const struct worker *asker);

#endif
