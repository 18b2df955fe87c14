#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine.h"

static void *thread_main(void *argument) {
    cping *pinger = argument;
    cping__engine_prepare_thread(pinger);
    sem_post(&pinger->ready);
    return cping__engine_main(pinger);
}

static int start_thread(cping *pinger) {
    sigset_t foreign = cping__foreign_signals(), before;
    sem_init(&pinger->ready, 0, 0);
    /* Signals are the program's business; its threads get them. */
    pthread_sigmask(SIG_SETMASK, &foreign, &before);
    int error = -pthread_create(&pinger->thread, NULL, thread_main, pinger);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) return error;
    pthread_setname_np(pinger->thread, "cping");
    /* The environment (`cping_get_environment`) must be known when `cping_create` returns. */
    while (sem_wait(&pinger->ready) != 0) {}
    return 0;
}

static uint32_t ring_capacity(const cping_options *options, int threadless) {
    uint32_t capacity = options->ring_capacity ? options->ring_capacity : threadless ? 512 : 4096;
    return threadless && capacity < 512 ? 512 : capacity;
}

static int build(cping *pinger, const cping_options *options) {
    pinger->epoll_fd = pinger->timer_fd = pinger->network_fd = pinger->mailbox.wake_fd = -1;
    pinger->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (pinger->event_fd < 0) return -errno;
    if (options->flags & ~(uint32_t)(CPING_OPTION_THREADLESS | CPING_OPTION_REALTIME)) return -EINVAL;
    pinger->threadless = (options->flags & CPING_OPTION_THREADLESS) != 0;
    pinger->wants_realtime = (options->flags & CPING_OPTION_REALTIME) != 0;
    pinger->linger_ns = options->linger_ns ? options->linger_ns : 10 * CPING__SECOND;
    pinger->remembered_limit = options->remembered ? options->remembered : 65536;
    int error = cping__ring_create(&pinger->ring, ring_capacity(options, pinger->threadless));
    if (error == 0) error = cping__mailbox_create(&pinger->mailbox);
    if (error == 0) error = cping__engine_create(pinger);
    if (error == 0 && !pinger->threadless) {
        cping__ring_touch(&pinger->ring);
        return start_thread(pinger);
    }
    if (error == 0) cping__engine_prepare_thread(pinger);
    return error;
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

/* By the pinger's thread, or at once where there is none. */
static int64_t carry_out(cping *pinger, cping__command command) {
    if (!pinger->threadless) return cping__mailbox_call(&pinger->mailbox, command);
    return pinger->stopping ? -ESHUTDOWN : command.run(pinger, &command);
}

void cping_shutdown(cping *pinger) {
    carry_out(pinger, (cping__command){.run = cping__command_shutdown});
}

void cping_destroy(cping *pinger) {
    if (!pinger) return;
    cping_shutdown(pinger);
    if (!pinger->threadless) {
        pthread_join(pinger->thread, NULL);
        sem_destroy(&pinger->ready);
    }
    dismantle(pinger);
}

uint64_t cping_now(void) {
    return cping__now();
}

int64_t cping_add(cping *pinger, const cping_target *target) {
    return carry_out(pinger, (cping__command){.run = cping__command_add, .config = target});
}

static int call(cping *pinger, int64_t (*run)(cping *, const cping__command *), int64_t target) {
    return (int)carry_out(pinger, (cping__command){.run = run, .target = target});
}

int cping_start(cping *pinger, int64_t target, uint64_t first_slot_ns) {
    cping__command command = {.run = cping__command_start, .target = target, .time_ns = first_slot_ns};
    return (int)carry_out(pinger, command);
}

int cping_stop(cping *pinger, int64_t target) {
    return call(pinger, cping__command_stop, target);
}

int cping_remove(cping *pinger, int64_t target) {
    return call(pinger, cping__command_remove, target);
}

int cping_inspect(cping *pinger, int64_t target, cping_target_info *info) {
    return (int)carry_out(pinger, (cping__command){.run = cping__command_inspect, .target = target, .info = info});
}

int cping_redirect(cping *pinger, int64_t target, const cping_address *destination) {
    cping__command command = {.run = cping__command_redirect, .target = target, .address = destination};
    return (int)carry_out(pinger, command);
}

void cping_get_environment(const cping *pinger, cping_environment *environment) {
    *environment = pinger->environment;
}

/* The caller must check the ring afterwards. */
static void clear_signal(cping *pinger) {
    eventfd_t ignored;
    eventfd_read(pinger->event_fd, &ignored);
    /* Last: a writer who finds it cleared sets the descriptor after it was read. */
    atomic_store(&pinger->is_signalled, 0);
    atomic_thread_fence(memory_order_seq_cst);
}

size_t cping_read(cping *pinger, cping_event *buffer, size_t capacity) {
    if (pinger->threadless) {
        size_t count = cping__ring_read(&pinger->ring, buffer, capacity);
        cping__ring_report(&pinger->ring);
        return count;
    }
    /* Cleared before reading, set again if something stays: an event that comes in between is never overlooked. */
    clear_signal(pinger);
    size_t count = cping__ring_read(&pinger->ring, buffer, capacity);
    if (cping__ring_count(&pinger->ring)) cping__tell_reader(pinger);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&pinger->flood_waits) && cping__ring_count(&pinger->ring) <= pinger->ring.capacity / 2) {
        atomic_store(&pinger->flood_waits, 0);
        eventfd_write(pinger->mailbox.wake_fd, 1);
    }
    /* There is room now for the event of an overflow. */
    if (atomic_load_explicit(&pinger->ring.dropped, memory_order_relaxed)) eventfd_write(pinger->mailbox.wake_fd, 1);
    return count;
}

static int poll_timeout(int timeout_ms, uint64_t deadline_ns) {
    if (timeout_ms < 0) return -1;
    uint64_t now_ns = cping__now();
    if (now_ns >= deadline_ns) return 0;
    return (int)((deadline_ns - now_ns + CPING__MILLISECOND - 1) / CPING__MILLISECOND);
}

/* Threadless: does the thread's work until there is an event. */
static int work(cping *pinger, int timeout_ms, uint64_t deadline_ns) {
    for (int is_last = 0;; is_last = poll_timeout(timeout_ms, deadline_ns) == 0) {
        if (cping__ring_count(&pinger->ring)) return 1;
        if (pinger->stopping) return -ESHUTDOWN;
        if (atomic_exchange(&pinger->woken, 0) || is_last) return 0;
        cping__run_once(pinger, poll_timeout(timeout_ms, deadline_ns));
    }
}

int cping_wait(cping *pinger, int timeout_ms) {
    uint64_t deadline_ns = timeout_ms < 0 ? CPING__NEVER : cping__now() + (uint64_t)timeout_ms * CPING__MILLISECOND;
    if (pinger->threadless) {
        int result = work(pinger, timeout_ms, deadline_ns);
        cping__watch_fully(pinger, cping__next_due(pinger));
        return result;
    }
    for (;;) {
        /* Closed is looked at first: nothing is written after it is set. */
        int closed = atomic_load(&pinger->closed);
        if (cping__ring_count(&pinger->ring)) return 1;
        if (closed) return -ESHUTDOWN;
        if (atomic_exchange(&pinger->woken, 0)) return 0;
        /* The descriptor may still be set for events that have been read; then this goes round once more. */
        struct pollfd readable = {.fd = pinger->event_fd, .events = POLLIN};
        if (poll(&readable, 1, poll_timeout(timeout_ms, deadline_ns)) == 0) return 0;
        clear_signal(pinger);
    }
}

void cping_wake(cping *pinger) {
    /* Reading clears the descriptor; this flag stays until the next wait. */
    atomic_store(&pinger->woken, 1);
    eventfd_write(pinger->threadless ? pinger->mailbox.wake_fd : pinger->event_fd, 1);
}

int cping_event_fd(const cping *pinger) {
    if (!pinger->threadless) return pinger->event_fd;
    /* Instances are never const. The caller polls this descriptor from now on, so every change must signal it. */
    cping *own = (cping *)pinger;
    own->is_polled = 1;
    cping__watch_fully(own, cping__next_due(own));
    return pinger->epoll_fd;
}

void cping_get_stats(const cping *pinger, cping_stats *stats) {
    uint64_t values[CPING__COUNTERS];
    for (size_t i = 0; i < CPING__COUNTERS; i++) {
        values[i] = atomic_load_explicit(&pinger->counters[i], memory_order_relaxed);
    }
    memcpy(stats, values, sizeof *stats);
}
