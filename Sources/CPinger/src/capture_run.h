/* A capture, and the thread that runs it. */
#pragma once

#include <pthread.h>

#include "capabilities.h"
#include "capture_file.h"
#include "capture_source.h"
#include "cpcapture.h"

struct cpcapture {
    cpcapture_options options;  /* `flows` is not kept here, see below */
    char *interface_name;
    pthread_t thread;
    cping__recoverer recoverer;
    int wakeup;  /* eventfd */

    /* Of the thread. */
    cpcapture__source source;
    cpcapture__writer writer;
    char *filter;  /* the present expression */
    uint64_t lost_with_handles;  /* drops that closed handles had counted */
    uint64_t interface_lost_with_handles;

    /* Between callers and the thread. */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    char *wanted_filter;  /* not NULL: the thread has to apply it */
    int filter_status;
    int is_closing;
    cpcapture_state state;

    /* Of the callers of `cpcapture_follow`, one at a time. */
    pthread_mutex_t following;
    cpcapture_flow *flows;
    size_t flow_count;
};

/* The thread; `argument` is a capture. */
void *cpcapture__run(void *argument);

/* For the thread, and for the caller that has ended it. Copies libpcap's counters of drops; publishes the state with `error`, the reason
 * why packets cannot be captured or written now, or 0. */
void cpcapture__count_drops(cpcapture *capture);
void cpcapture__publish(cpcapture *capture, int error);
