#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine.h"

static int start_thread(cping *pinger) {
    sigset_t all, before;
    /* Signals are the program's business; its threads get them. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = -pthread_create(&pinger->thread, NULL, cping__engine_main, pinger);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) pthread_setname_np(pinger->thread, "cping");
    return error;
}

static int build(cping *pinger, const cping_options *options) {
    pinger->epoll_fd = pinger->timer_fd = pinger->mailbox.wake_fd = -1;
    pinger->linger_ns = options->linger_ns ? options->linger_ns : 10 * CPING__SECOND;
    pinger->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (pinger->event_fd < 0) return -errno;
    int error = cping__ring_create(&pinger->ring, options->ring_capacity ? options->ring_capacity : 4096);
    if (error == 0) error = cping__mailbox_create(&pinger->mailbox);
    if (error == 0) error = cping__engine_create(pinger);
    return error ? error : start_thread(pinger);
}

static void dismantle(cping *pinger) {
    cping__engine_destroy(pinger);
    if (pinger->mailbox.wake_fd >= 0) cping__mailbox_destroy(&pinger->mailbox);
    cping__ring_destroy(&pinger->ring);
    if (pinger->event_fd >= 0) close(pinger->event_fd);
    free(pinger);
}

int cping_create(const cping_options *options, cping **created) {
    static const cping_options defaults;
    cping *pinger = calloc(1, sizeof *pinger);
    if (!pinger) return -ENOMEM;
    int error = build(pinger, options ? options : &defaults);
    if (error) dismantle(pinger);
    else *created = pinger;
    return error;
}

void cping_shutdown(cping *pinger) {
    cping__mailbox_call(&pinger->mailbox, (cping__command){.run = cping__command_shutdown});
}

void cping_destroy(cping *pinger) {
    if (!pinger) return;
    cping_shutdown(pinger);
    pthread_join(pinger->thread, NULL);
    dismantle(pinger);
}

uint64_t cping_now(void) {
    return cping__now();
}

int64_t cping_add(cping *pinger, const cping_target *target) {
    return cping__mailbox_call(&pinger->mailbox, (cping__command){.run = cping__command_add, .config = target});
}

static int call(cping *pinger, int64_t (*run)(cping *, const cping__command *), int64_t target) {
    return (int)cping__mailbox_call(&pinger->mailbox, (cping__command){.run = run, .target = target});
}

int cping_start(cping *pinger, int64_t target, uint64_t first_slot_ns) {
    return (int)cping__mailbox_call(&pinger->mailbox, (cping__command){.run = cping__command_start,
                                                                       .target = target,
                                                                       .time_ns = first_slot_ns});
}

int cping_pause(cping *pinger, int64_t target) {
    return call(pinger, cping__command_pause, target);
}

int cping_resume(cping *pinger, int64_t target) {
    return call(pinger, cping__command_resume, target);
}

int cping_stop(cping *pinger, int64_t target) {
    return call(pinger, cping__command_stop, target);
}

int cping_remove(cping *pinger, int64_t target) {
    return call(pinger, cping__command_remove, target);
}

int cping_inspect(cping *pinger, int64_t target, cping_target_info *info) {
    return (int)cping__mailbox_call(&pinger->mailbox, (cping__command){.run = cping__command_inspect,
                                                                       .target = target,
                                                                       .info = info});
}

size_t cping_read(cping *pinger, cping_event *buffer, size_t capacity) {
    eventfd_t ignored;
    /* Cleared before reading, set again if something stays: an event that comes in between is never overlooked. */
    eventfd_read(pinger->event_fd, &ignored);
    size_t count = cping__ring_read(&pinger->ring, buffer, capacity);
    if (cping__ring_count(&pinger->ring)) eventfd_write(pinger->event_fd, 1);
    /* There is room now to say what was dropped. */
    if (atomic_load_explicit(&pinger->ring.dropped, memory_order_relaxed)) eventfd_write(pinger->mailbox.wake_fd, 1);
    return count;
}

static int poll_timeout(int timeout_ms, uint64_t deadline_ns) {
    if (timeout_ms < 0) return -1;
    uint64_t now_ns = cping__now();
    if (now_ns >= deadline_ns) return 0;
    return (int)((deadline_ns - now_ns + CPING__MILLISECOND - 1) / CPING__MILLISECOND);
}

int cping_wait(cping *pinger, int timeout_ms) {
    uint64_t deadline_ns = timeout_ms < 0 ? CPING__NEVER : cping__now() + (uint64_t)timeout_ms * CPING__MILLISECOND;
    for (;;) {
        /* Closed is looked at first: nothing is written after it is set. */
        int closed = atomic_load(&pinger->closed);
        if (cping__ring_count(&pinger->ring)) return 1;
        if (closed) return -ESHUTDOWN;
        if (atomic_exchange(&pinger->woken, 0)) return 0;
        /* The descriptor may still be set for events that have been read; then this goes round once more. */
        struct pollfd readable = {.fd = pinger->event_fd, .events = POLLIN};
        if (poll(&readable, 1, poll_timeout(timeout_ms, deadline_ns)) == 0) return 0;
        eventfd_t ignored;
        eventfd_read(pinger->event_fd, &ignored);
    }
}

void cping_wake(cping *pinger) {
    /* Reading clears the descriptor; this stays until somebody has waited. */
    atomic_store(&pinger->woken, 1);
    eventfd_write(pinger->event_fd, 1);
}

int cping_event_fd(const cping *pinger) {
    return pinger->event_fd;
}

void cping_get_stats(const cping *pinger, cping_stats *stats) {
    uint64_t values[CPING__COUNTERS];
    for (size_t i = 0; i < CPING__COUNTERS; i++) {
        values[i] = atomic_load_explicit(&pinger->counters[i], memory_order_relaxed);
    }
    memcpy(stats, values, sizeof *stats);
}
