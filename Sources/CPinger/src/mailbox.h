/* Carries commands of other threads to the pinger's own, and the result back. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cpinger.h"

typedef struct cping__command {
    int64_t (*run)(cping *pinger, const struct cping__command *command);
    int64_t target;
    uint64_t time_ns;
    const cping_target *config;
    const cping_address *address;
    cping_target_info *info;
    /* The mailbox's own. */
    STAILQ_ENTRY(cping__command) link;
    int64_t result;
    int done;
} cping__command;

typedef struct cping__mailbox {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    STAILQ_HEAD(, cping__command) waiting;
    int wake_fd;
    int closed;
} cping__mailbox;

int cping__mailbox_create(cping__mailbox *mailbox);
void cping__mailbox_destroy(cping__mailbox *mailbox);

/* Callers: waits until the command has run; its result, or -ESHUTDOWN. */
int64_t cping__mailbox_call(cping__mailbox *mailbox, cping__command command);

/* The pinger's thread: `run` runs the waiting commands; `close` answers all from now on with -ESHUTDOWN. */
void cping__mailbox_run(cping__mailbox *mailbox, cping *pinger);
void cping__mailbox_close(cping__mailbox *mailbox);
