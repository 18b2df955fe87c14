/* Threads of all kinds, for tests that must reach every thread. */
#ifndef ZOO_H
#define ZOO_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

static atomic_int is_over;

static void *sleeps(void *unused) {
    while (!is_over) nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    return unused;
}

static void *computes(void *unused) {
    while (!is_over) sched_yield();
    return unused;
}

/* Like libdispatch's threads. */
static void *blocks_most(void *unused) {
    sigset_t most;
    sigfillset(&most);
    sigdelset(&most, SIGSYS);
    pthread_sigmask(SIG_BLOCK, &most, NULL);
    return sleeps(unused);
}

static void *waits_for_input(void *end) {
    char byte;
    CHECK(read(*(int *)end, &byte, 1) == 1);
    return NULL;
}

static void *ends(void *unused) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return unused;
}

/* Starts new threads all the time. */
static void *breeds(void *unused) {
    while (!is_over) {
        pthread_t child;
        CHECK(pthread_create(&child, NULL, ends, NULL) == 0);
        pthread_join(child, NULL);
    }
    return unused;
}

enum { KINDS = 5 };

struct zoo {
    pthread_t threads[KINDS];
    int pipe[2];
};

static inline void open_zoo(struct zoo *zoo) {
    static void *(*const kinds[KINDS])(void *) = {sleeps, computes, blocks_most, waits_for_input, breeds};
    is_over = 0;
    CHECK(pipe(zoo->pipe) == 0);
    for (int i = 0; i < KINDS; i++) CHECK(pthread_create(&zoo->threads[i], NULL, kinds[i], &zoo->pipe[0]) == 0);
}

static inline void close_zoo(struct zoo *zoo) {
    is_over = 1;
    CHECK(write(zoo->pipe[1], "x", 1) == 1);
    for (int i = 0; i < KINDS; i++) pthread_join(zoo->threads[i], NULL);
}

#endif
