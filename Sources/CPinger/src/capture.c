#define _GNU_SOURCE
#include "cpcapture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void cpcapture_flow_of(const cping_target *target, const cping_target_info *info, cpcapture_flow *flow) {
    *flow = (cpcapture_flow){.protocol = target->protocol, .local = info->local_port, .remote = target->destination};
}

#if CPINGER_CAPTURE

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "capabilities.h"
#include "capture_filter.h"
#include "capture_run.h"

/* ---- Options ---- */

/* Returns `error`. */
static int complain(int error, char *text, size_t size, const char *sentence) {
    snprintf(text, size, "packets cannot be captured: %s", sentence);
    return error;
}

static int are_flows(const cpcapture_flow *flows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int family = flows[i].remote.family, protocol = flows[i].protocol;
        if (family != 4 && family != 6) return 0;
        int is_udp = protocol == CPING_RTR || protocol == CPING_ONEWAY || protocol == CPING_UDP_ECHO;
        if (protocol != CPING_ICMP && (!is_udp || flows[i].remote.port == 0)) return 0;
    }
    return 1;
}

static cpcapture_options with_defaults(const cpcapture_options *given) {
    cpcapture_options options = *given;
    if (!options.interface_name || !*options.interface_name) options.interface_name = "any";
    if (options.file_size == 0) options.file_size = 16 << 20;
    if (options.file_count == 0) options.file_count = 16;
    if (options.snapshot == 0) options.snapshot = 160;
    if (options.ring_bytes == 0) options.ring_bytes = 2 << 20;
    return options;
}

static int check(const cpcapture_options *options, char *text, size_t size) {
    if (!options->path || !*options->path) return complain(-EINVAL, text, size, "there is no path for the files");
    if (options->snapshot < 96 || options->snapshot > 65535) {
        return complain(-EINVAL, text, size, "the snapshot length is not between 96 and 65535");
    }
    if (options->file_size < 8192 || options->file_size < 4 * (uint64_t)options->snapshot) {
        return complain(-EINVAL, text, size, "files must be larger than 8 KiB and four packets");
    }
    if (options->ring_bytes > INT32_MAX) return complain(-EINVAL, text, size, "the ring is larger than 2 GiB");
    if (!are_flows(options->flows, options->flow_count)) {
        return complain(-EINVAL, text, size, "a flow is no ping to an address and port");
    }
    return 0;
}

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
    capture->filter = cpcapture__filter_text(capture->flows, capture->flow_count);
    int error = !capture->filter ? -ENOMEM : cpcapture__source_filter(&capture->source, capture->filter);
    if (error) return complain(error, text, size, "its filter could not be made");
    error = cpcapture__writer_open(&capture->writer, &capture->options, capture->source.link_type);
    if (error) snprintf(text, size, "cannot create the capture file %s-%04u.pcap: %s", capture->options.path,
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
    free(capture->filter);
    free(capture->flows);
    free(capture);
}

static int set_up(cpcapture *capture, char *text, size_t size) {
    capture->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (capture->wakeup < 0) return complain(-errno, text, size, strerror(errno));
    int error = keep_flows(capture, capture->options.flows, capture->options.flow_count);
    if (error || !capture->interface_name) return complain(-ENOMEM, text, size, "out of memory");
    capture->options.interface_name = capture->interface_name;
    error = cpcapture__source_open(&capture->source, &capture->options, text, size);
    if (!error) error = open_writer(capture, text, size);
    if (error) return error;
    cpcapture__publish(capture, 0);
    error = start_thread(capture);
    if (!error) return 0;
    cpcapture__writer_close(&capture->writer);
    return complain(error, text, size, strerror(-error));
}

int cpcapture_open(const cpcapture_options *given, cpcapture **result, char *text, size_t size) {
    *result = NULL;
    cpcapture_options options = with_defaults(given);
    int error = check(&options, text, size);
    if (error) return error;
    cpcapture *capture = calloc(1, sizeof *capture);
    if (!capture) return complain(-ENOMEM, text, size, "out of memory");
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
    if (!are_flows(flows, count)) return -EINVAL;
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

#else

int cpcapture_open(const cpcapture_options *options, cpcapture **capture, char *text, size_t size) {
    (void)options;
    *capture = NULL;
    snprintf(text, size, "packets cannot be captured: this program was built without libpcap");
    return -ENOSYS;
}

int cpcapture_follow(cpcapture *capture, const cpcapture_flow *flows, size_t count) {
    (void)capture, (void)flows, (void)count;
    return -ENOSYS;
}

void cpcapture_get_state(cpcapture *capture, cpcapture_state *state) {
    (void)capture;
    memset(state, 0, sizeof *state);
}

void cpcapture_close(cpcapture *capture, cpcapture_state *state) {
    (void)capture;
    if (state) memset(state, 0, sizeof *state);
}

#endif
