/* Capabilities belong to threads. Giving them up, in one and in all. */
#pragma once

#include <signal.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "cpinger.h"

/* This signal makes a thread drop its capabilities. It is the signal that threads block least: libdispatch's threads, on which Swift
 * runs, do not block it. */
enum { CPING__DROP_SIGNAL = SIGSYS };

/* A thread that opens sockets again when an interface is back. */
typedef struct cping__recoverer {
    LIST_ENTRY(cping__recoverer) link;
    pid_t thread;
} cping__recoverer;

/* Registers the calling thread as one, and removes it. */
void cping__recoverer_begin(cping__recoverer *recoverer);
void cping__recoverer_end(cping__recoverer *recoverer);

/* The capabilities that a thread keeps by `keep` (enum cping_keep), as a set of bits. */
uint64_t cping__capabilities_kept(unsigned keep, int is_recoverer);

/* Drops all others in the calling thread. Async-signal-safe. 0 or a negative errno. */
int cping__capabilities_drop(uint64_t keep);

/* All signals but those of faults and the one above: for threads that leave the others to the program. */
sigset_t cping__foreign_signals(void);
