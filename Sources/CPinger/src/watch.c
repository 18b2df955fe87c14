/* Waits for descriptors, and for the time of the next deadline. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "engine.h"

/* A socket that is read repeatedly without a wait is taken out of epoll, so that its packets cause no wakeups. */
enum { UNWATCHED_AFTER = 4 };

int cping__watch(cping *pinger, cping__channel *channel) {
    struct epoll_event interest = {.events = EPOLLIN, .data.ptr = channel};
    channel->waves = 0;
    channel->is_watched = 1;
    /* EEXIST: it is watched already. */
    return epoll_ctl(pinger->epoll_fd, EPOLL_CTL_ADD, channel->fd, &interest) == 0 || errno == EEXIST ? 0 : -errno;
}

void cping__rewatch(cping *pinger) {
    cping__channel *channel;
    if (pinger->is_polled) return;
    LIST_FOREACH(channel, &pinger->channels, link) {
        /* A channel without traffic is watched again. */
        if (!channel->is_watched && channel->waves == 0) cping__watch(pinger, channel);
        if (!channel->is_watched || channel->waves < UNWATCHED_AFTER) continue;
        channel->is_watched = epoll_ctl(pinger->epoll_fd, EPOLL_CTL_DEL, channel->fd, NULL) != 0;
    }
}

static void watch_all(cping *pinger) {
    cping__channel *channel;
    LIST_FOREACH(channel, &pinger->channels, link) {
        channel->waves = 0;
        if (!channel->is_watched) cping__watch(pinger, channel);
    }
}

static void set_timer(cping *pinger, uint64_t due_ns) {
    if (due_ns == pinger->timer_ns) return;
    pinger->timer_ns = due_ns;
    struct itimerspec when = {0};
    /* Zero would switch the timer off; use one. */
    if (due_ns == 0) due_ns = 1;
    if (due_ns != CPING__NEVER) {
        when.it_value.tv_sec = (time_t)(due_ns / CPING__SECOND);
        when.it_value.tv_nsec = (long)(due_ns % CPING__SECOND);
    }
    timerfd_settime(pinger->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Uses a timerfd: the kernel delays epoll's timeouts by up to 0.1 %, 100 us for a slot that is 100 ms ahead. */
int cping__wait_until(cping *pinger, struct epoll_event *ready, int capacity, uint64_t due_ns, int timeout_ms) {
    uint64_t now_ns = due_ns == CPING__NEVER ? 0 : cping__now();
    if (due_ns <= now_ns) return epoll_wait(pinger->epoll_fd, ready, capacity, 0);
    watch_all(pinger);
    set_timer(pinger, due_ns);
    return epoll_wait(pinger->epoll_fd, ready, capacity, timeout_ms);
}

void cping__timer_fired(cping *pinger) {
    /* Forces the next set_timer to arm the timer, which clears the expiry. */
    pinger->timer_ns = 0;
}

void cping__watch_fully(cping *pinger, uint64_t due_ns) {
    if (!pinger->is_polled) return;
    watch_all(pinger);
    set_timer(pinger, due_ns);
}
