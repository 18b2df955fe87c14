/* Capabilities belong to threads. Giving them up, in one and in all. */
#ifndef CPING__CAPABILITIES_H
#define CPING__CAPABILITIES_H

#include <signal.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "cpinger.h"

/* Threads are told to give up by this signal. Of all that can be blocked it is blocked least: libdispatch's threads, which
 * Swift runs on, leave it open. */
enum { CPING__DROP_SIGNAL = SIGSYS };

/* A thread that opens sockets again when an interface is back. */
typedef struct cping__recoverer {
    LIST_ENTRY(cping__recoverer) link;
    pid_t thread;
} cping__recoverer;

/* The calling thread is one, until it is forgotten. */
void cping__recoverer_begin(cping__recoverer *recoverer);
void cping__recoverer_end(cping__recoverer *recoverer);

/* What `keep` (enum cping_keep) leaves to a thread, as a set of bits. */
uint64_t cping__capabilities_kept(unsigned keep, int is_recoverer);

/* Of the calling thread. Async-signal-safe. 0 or a negative errno. */
int cping__capabilities_drop(uint64_t keep);

/* All signals but those of faults and the one above: for threads that leave the others to the program. */
sigset_t cping__foreign_signals(void);

#endif
