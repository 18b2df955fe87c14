#if CPINGER_CAPTURE

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capabilities.h"
#include "capture_filter.h"
#include "capture_options.h"
#include "capture_run.h"

/* ---- Opening ---- */

static int keep_flows(cpcapture *capture, const cpcapture_flow *flows, size_t count) {
    cpcapture_flow *copy = calloc(count ? count : 1, sizeof *copy);
    if (!copy) return -ENOMEM;
    if (count) memcpy(copy, flows, count * sizeof *copy);
    free(capture->flows);
    capture->flows = copy;
    capture->flow_count = count;
    return 0;
}

static int open_writer(cpcapture *capture, char *text, size_t size) {
    cpcapture__layout layout = {
        .path = strdup(capture->options.path), .file_size = capture->options.file_size,
        .file_count = capture->options.file_count, .snapshot = capture->options.snapshot,
        .link_type = cpcapture__source_file_link_type(&capture->source),
        .filter = cpcapture__filter_text(capture->flows, capture->flow_count)};
    snprintf(layout.interface_name, sizeof layout.interface_name, "%s", capture->interface_name);
    int error = !layout.filter ? -ENOMEM : cpcapture__source_filter(&capture->source, layout.filter);
    if (error) {
        free(layout.path);
        free(layout.filter);
        return cpcapture__complain(error, text, size, "its filter could not be made");
    }
    error = cpcapture__writer_open(&capture->writer, &layout);
    if (error) snprintf(text, size, "cannot create the capture file %s-%04u.pcapng: %s", capture->options.path,
                        capture->writer.number + 1, strerror(-error));
    return error;
}

/* Signals are the business of the program's other threads. */
static int start_thread(cpcapture *capture) {
    sigset_t foreign = cping__foreign_signals(), before;
    pthread_sigmask(SIG_SETMASK, &foreign, &before);
    int error = -pthread_create(&capture->thread, NULL, cpcapture__run, capture);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) return error;
    /* Wait until the thread has registered its id, so that a later drop of privileges knows it. */
    pthread_mutex_lock(&capture->lock);
    while (capture->recoverer.thread == 0) pthread_cond_wait(&capture->answered, &capture->lock);
    pthread_mutex_unlock(&capture->lock);
    return 0;
}

static void free_capture(cpcapture *capture) {
    cpcapture__source_close(&capture->source);
    if (capture->wakeup >= 0) close(capture->wakeup);
    pthread_cond_destroy(&capture->answered);
    pthread_mutex_destroy(&capture->following);
    pthread_mutex_destroy(&capture->lock);
    free(capture->interface_name);
    free(capture->flows);
    free(capture);
}

static int set_up(cpcapture *capture, char *text, size_t size) {
    capture->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (capture->wakeup < 0) return cpcapture__complain(-errno, text, size, strerror(errno));
    int error = keep_flows(capture, capture->options.flows, capture->options.flow_count);
    if (error || !capture->interface_name) return cpcapture__complain(-ENOMEM, text, size, "out of memory");
    capture->options.interface_name = capture->interface_name;
    error = cpcapture__source_open(&capture->source, &capture->options, text, size);
    if (!error) error = open_writer(capture, text, size);
    if (error) return error;
    cpcapture__publish(capture, 0);
    error = start_thread(capture);
    if (!error) return 0;
    cpcapture__writer_close(&capture->writer);
    return cpcapture__complain(error, text, size, strerror(-error));
}

int cpcapture_open(const cpcapture_options *given, cpcapture **result, char *text, size_t size) {
    *result = NULL;
    cpcapture_options options = cpcapture__with_defaults(given);
    int error = cpcapture__check(&options, text, size);
    if (error) return error;
    cpcapture *capture = calloc(1, sizeof *capture);
    if (!capture) return cpcapture__complain(-ENOMEM, text, size, "out of memory");
    capture->options = options;
    capture->interface_name = strdup(options.interface_name);
    pthread_mutex_init(&capture->lock, NULL);
    pthread_mutex_init(&capture->following, NULL);
    pthread_cond_init(&capture->answered, NULL);
    error = set_up(capture, text, size);
    if (error) free_capture(capture);
    else *result = capture;
    return error;
}

/* ---- While it runs, and closing ---- */

static void wake(cpcapture *capture) {
    uint64_t one = 1;
    (void)!write(capture->wakeup, &one, sizeof one);
}

static int install(cpcapture *capture, char *filter) {
    pthread_mutex_lock(&capture->lock);
    capture->wanted_filter = filter;
    wake(capture);
    while (capture->wanted_filter) pthread_cond_wait(&capture->answered, &capture->lock);
    int status = capture->filter_status;
    pthread_mutex_unlock(&capture->lock);
    return status;
}

int cpcapture_follow(cpcapture *capture, const cpcapture_flow *flows, size_t count) {
    if (!cpcapture__are_flows(flows, count)) return -EINVAL;
    pthread_mutex_lock(&capture->following);
    cpcapture_flow *both = calloc(count + capture->flow_count + 1, sizeof *both);
    if (both && count) memcpy(both, flows, count * sizeof *both);
    if (both && capture->flow_count) memcpy(both + count, capture->flows, capture->flow_count * sizeof *both);
    char *filter = both ? cpcapture__filter_text(both, count + capture->flow_count) : NULL;
    free(both);
    int error = filter ? install(capture, filter) : -ENOMEM;
    if (!error) error = keep_flows(capture, flows, count);
    pthread_mutex_unlock(&capture->following);
    return error;
}

void cpcapture_get_state(cpcapture *capture, cpcapture_state *state) {
    pthread_mutex_lock(&capture->lock);
    *state = capture->state;
    pthread_mutex_unlock(&capture->lock);
}

void cpcapture_close(cpcapture *capture, cpcapture_state *state) {
    if (state) *state = (cpcapture_state){0};
    if (!capture) return;
    pthread_mutex_lock(&capture->lock);
    capture->is_closing = 1;
    wake(capture);
    pthread_mutex_unlock(&capture->lock);
    pthread_join(capture->thread, NULL);
    cping__recoverer_end(&capture->recoverer);
    cpcapture__count_drops(capture);
    int error = cpcapture__writer_flush(&capture->writer);
    cpcapture__writer_close(&capture->writer);
    cpcapture__publish(capture, error);
    if (state) *state = capture->state;
    free_capture(capture);
}

#endif
