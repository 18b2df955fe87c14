#define _GNU_SOURCE
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* How long a reply waits for the send stamp of its ping. Stamps come within microseconds where they come at all. */
static const uint64_t STAMP_PATIENCE = 5 * CPING__MILLISECOND;

/* So many pings in a row without a stamp, and stamps are no longer waited for. */
enum { STAMPS_GIVEN_UP = 4 };

/* So many descriptors are looked at in one round. */
enum { READY = 64 };

static uint64_t patience_ends(const cping__ping *waiter) {
    return waiter->reply->at.clocks.early_ns + STAMP_PATIENCE;
}

uint64_t cping__next_due(cping *pinger) {
    if (cping__flood_is_due(pinger)) return 0;
    uint64_t due = CPING__NEVER;
    const cping__entry *entry = cping__agenda_first(&pinger->agenda);
    if (entry) due = entry->time_ns;
    const cping__ping *waiter = TAILQ_FIRST(&pinger->stamp_waiters);
    if (waiter && patience_ends(waiter) < due) due = patience_ends(waiter);
    return due;
}

static void run_due_targets(cping *pinger, uint64_t now_ns) {
    for (cping__entry *entry; (entry = cping__agenda_first(&pinger->agenda)) && entry->time_ns <= now_ns;) {
        cping__target_run(pinger, (cping__target *)entry, now_ns);
        if (!cping__has_room(pinger)) break;
    }
    cping__outbox_flush(pinger);
    cping__forget_surplus(pinger);
}

static void end_patience(cping *pinger) {
    if (TAILQ_EMPTY(&pinger->stamp_waiters)) return;
    uint64_t now_ns = cping__now();
    for (cping__ping *ping; (ping = TAILQ_FIRST(&pinger->stamp_waiters));) {
        if (patience_ends(ping) > now_ns || !cping__has_room(pinger)) break;
        cping__channel *channel = ping->target->channel;
        if (!cping__read_arrived(pinger, channel, now_ns)) break;
        if (ping != TAILQ_FIRST(&pinger->stamp_waiters)) continue;
        if (++channel->missing_in_a_row >= STAMPS_GIVEN_UP) channel->stamps = CPING_STAMPS_MISSING;
        cping__stop_waiting(pinger, ping);
    }
}

static void read_channel(cping *pinger, cping__channel *channel, uint32_t what) {
    if (what & (EPOLLERR | EPOLLHUP) && !cping__read_notices(pinger, channel)) pinger->has_unread = 1;
    if (what & ~(uint32_t)EPOLLERR && !cping__read_datagrams(pinger, channel)) pinger->has_unread = 1;
}

/* Returns whether there are commands. */
static int handle(cping *pinger, const struct epoll_event *event) {
    if (event->data.ptr == &pinger->timer_fd) {
        cping__timer_fired(pinger);
    } else if (event->data.ptr == &pinger->network_fd) {
        cping__network_read(pinger);
    } else if (event->data.ptr == &pinger->mailbox) {
        return 1;
    } else {
        read_channel(pinger, event->data.ptr, event->events);
    }
    return 0;
}

/* Datagrams that arrived by `now_ns` appear in the next round's wait at the latest, and are read when that round ends without unread
 * ones. */
static void end_round(cping *pinger, uint64_t now_ns) {
    if (pinger->has_unread) return;
    cping__forget_old(pinger);
    pinger->read_until_ns = now_ns;
}

void cping__run_once(cping *pinger, int timeout_ms) {
    struct epoll_event ready[READY];
    int count = cping__wait_until(pinger, ready, READY, cping__next_due(pinger), timeout_ms);
    int commands = 0;
    pinger->has_unread = count == READY;
    CPING__COUNT(pinger, wakeups);
    /* Sending goes first: the schedule cannot wait, while replies carry the time of their arrival. */
    uint64_t now_ns = cping__now();
    run_due_targets(pinger, now_ns);
    cping__flood_run(pinger, now_ns);
    cping__rewatch(pinger);
    for (int i = 0; i < count; i++) commands |= handle(pinger, &ready[i]);
    end_patience(pinger);
    end_round(pinger, now_ns);
    /* Last, since they can close channels that are in `ready`. */
    if (commands) cping__mailbox_run(&pinger->mailbox, pinger);
    cping__tell_news(pinger);
}

void cping__engine_prepare_thread(cping *pinger) {
    cping_environment *environment = &pinger->environment;
    cping__recoverer_begin(&pinger->recoverer);
    prctl(PR_SET_TIMERSLACK, 1UL);
    int slack = prctl(PR_GET_TIMERSLACK);
    environment->timer_slack_ns = slack > 0 ? (uint64_t)slack : 0;
    if (!pinger->wants_realtime) return;
    struct sched_param parameters = {.sched_priority = 1};
    environment->realtime = sched_setscheduler(0, SCHED_FIFO, &parameters) == 0 ? 1 : -errno;
}

void *cping__engine_main(void *argument) {
    cping *pinger = argument;
    while (!pinger->stopping) cping__run_once(pinger, -1);
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
    TAILQ_INIT(&pinger->finished);
    pinger->timer_ns = CPING__NEVER;
    do {
        if (getrandom(&pinger->sequence, sizeof pinger->sequence, 0) < 0) return -errno;
    } while (pinger->sequence == UINT32_MAX);
    pinger->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    pinger->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (pinger->epoll_fd < 0 || pinger->timer_fd < 0) return -errno;
    int error = watch(pinger, pinger->timer_fd, &pinger->timer_fd);
    pinger->environment.network_watch = cping__network_open(pinger);
    if (pinger->network_fd >= 0 && error == 0) error = watch(pinger, pinger->network_fd, &pinger->network_fd);
    return error ? error : watch(pinger, pinger->mailbox.wake_fd, &pinger->mailbox);
}

void cping__engine_destroy(cping *pinger) {
    cping__recoverer_end(&pinger->recoverer);
    if (pinger->epoll_fd >= 0) close(pinger->epoll_fd);
    if (pinger->timer_fd >= 0) close(pinger->timer_fd);
    if (pinger->network_fd >= 0) close(pinger->network_fd);
    cping__directory_destroy(&pinger->directory);
    cping__batch_destroy(pinger->batch);
    free(pinger->outbox);
    cping__pending_destroy(&pinger->pending);
    cping__agenda_destroy(&pinger->agenda);
    free(pinger->targets);
}
