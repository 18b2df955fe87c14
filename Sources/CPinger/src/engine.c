#define _GNU_SOURCE
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* How long a reply waits for the send stamp of its ping. Stamps come within microseconds where they come at all. */
static const uint64_t STAMP_PATIENCE = 5 * CPING__MILLISECOND;

void cping__emit(cping *pinger, const cping_event *event) {
    if (!cping__ring_write(&pinger->ring, event)) CPING__COUNT(pinger, dropped_events);
    pinger->has_news = 1;
}

static void tell_reader(cping *pinger) {
    if (cping__ring_report(&pinger->ring)) pinger->has_news = 1;
    if (!pinger->has_news) return;
    pinger->has_news = 0;
    eventfd_write(pinger->event_fd, 1);
}

static uint64_t next_due(const cping *pinger) {
    uint64_t due = CPING__NEVER;
    const cping__entry *entry = cping__agenda_first(&pinger->agenda);
    if (entry) due = entry->time_ns;
    const cping__ping *waiter = TAILQ_FIRST(&pinger->stamp_waiters);
    if (waiter && waiter->received.clocks.early_ns + STAMP_PATIENCE < due) {
        due = waiter->received.clocks.early_ns + STAMP_PATIENCE;
    }
    return due;
}

static void set_timer(cping *pinger) {
    uint64_t due = next_due(pinger);
    if (due == pinger->timer_ns) return;
    pinger->timer_ns = due;
    struct itimerspec when = {0};
    /* Zero would switch the timer off; what is due at zero is due at one. */
    if (due == 0) due = 1;
    if (due != CPING__NEVER) {
        when.it_value.tv_sec = (time_t)(due / CPING__SECOND);
        when.it_value.tv_nsec = (long)(due % CPING__SECOND);
    }
    timerfd_settime(pinger->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void run_due_targets(cping *pinger) {
    uint64_t now_ns = cping__now();
    for (cping__entry *entry; (entry = cping__agenda_first(&pinger->agenda)) && entry->time_ns <= now_ns;) {
        cping__target_run(pinger, (cping__target *)entry, now_ns);
    }
}

static void end_patience(cping *pinger) {
    uint64_t now_ns = cping__now();
    for (cping__ping *ping; (ping = TAILQ_FIRST(&pinger->stamp_waiters));) {
        if (ping->received.clocks.early_ns + STAMP_PATIENCE > now_ns) break;
        cping__stop_waiting(pinger, ping);
    }
}

static void run_once(cping *pinger) {
    struct epoll_event ready[64];
    int count = epoll_wait(pinger->epoll_fd, ready, 64, -1);
    int commands = 0;
    CPING__COUNT(pinger, wakeups);
    /* Sending goes first: the schedule cannot wait, while replies carry the time of their arrival. */
    run_due_targets(pinger);
    for (int i = 0; i < count; i++) {
        if (ready[i].data.ptr == &pinger->timer_fd) {
            /* It has fired: setting it, to whatever time, makes the descriptor silent again. */
            pinger->timer_ns = 0;
        } else if (ready[i].data.ptr == &pinger->mailbox) {
            commands = 1;
        } else {
            cping__read_notices(pinger, ready[i].data.ptr);
            cping__read_datagrams(pinger, ready[i].data.ptr);
        }
    }
    end_patience(pinger);
    /* Last, since they can close channels that are in `ready`. */
    if (commands) cping__mailbox_run(&pinger->mailbox, pinger);
    set_timer(pinger);
    tell_reader(pinger);
}

void *cping__engine_main(void *argument) {
    cping *pinger = argument;
    while (!pinger->stopping) run_once(pinger);
    cping__mailbox_close(&pinger->mailbox);
    atomic_store(&pinger->closed, 1);
    eventfd_write(pinger->event_fd, 1);
    return NULL;
}

static int watch(cping *pinger, int fd, void *identity) {
    struct epoll_event interest = {.events = EPOLLIN, .data.ptr = identity};
    return epoll_ctl(pinger->epoll_fd, EPOLL_CTL_ADD, fd, &interest) == 0 ? 0 : -errno;
}

int cping__engine_create(cping *pinger) {
    LIST_INIT(&pinger->channels);
    TAILQ_INIT(&pinger->stamp_waiters);
    pinger->timer_ns = CPING__NEVER;
    do {
        if (getrandom(&pinger->sequence, sizeof pinger->sequence, 0) < 0) return -errno;
    } while (pinger->sequence == UINT32_MAX);
    pinger->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    pinger->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (pinger->epoll_fd < 0 || pinger->timer_fd < 0) return -errno;
    int error = watch(pinger, pinger->timer_fd, &pinger->timer_fd);
    return error ? error : watch(pinger, pinger->mailbox.wake_fd, &pinger->mailbox);
}

void cping__engine_destroy(cping *pinger) {
    if (pinger->epoll_fd >= 0) close(pinger->epoll_fd);
    if (pinger->timer_fd >= 0) close(pinger->timer_fd);
    cping__pending_destroy(&pinger->pending);
    cping__agenda_destroy(&pinger->agenda);
    free(pinger->targets);
}
