/* What the thread waits for: descriptors, and the time of the next thing that is due. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "engine.h"

/* A socket that is read again and again without being waited for costs less if its packets wake nobody. */
enum { UNWATCHED_AFTER = 4 };

/* The timeout of a wait does not count the time the machine sleeps; what is further ahead than this has a timer on BOOTTIME. */
static const uint64_t NEAR = CPING__SECOND;

int cping__watch(cping *pinger, cping__channel *channel) {
    struct epoll_event interest = {.events = EPOLLIN, .data.ptr = channel};
    channel->waves = 0;
    channel->is_watched = 1;
    /* EEXIST: it is watched already. */
    return epoll_ctl(pinger->epoll_fd, EPOLL_CTL_ADD, channel->fd, &interest) == 0 || errno == EEXIST ? 0 : -errno;
}

void cping__watch_less(cping *pinger) {
    cping__channel *channel;
    if (pinger->is_polled) return;
    LIST_FOREACH(channel, &pinger->channels, link) {
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
    /* Zero would switch the timer off; what is due at zero is due at one. */
    if (due_ns == 0) due_ns = 1;
    if (due_ns != CPING__NEVER) {
        when.it_value.tv_sec = (time_t)(due_ns / CPING__SECOND);
        when.it_value.tv_nsec = (long)(due_ns % CPING__SECOND);
    }
    timerfd_settime(pinger->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Without a timer: one system call less a ping. -1: the kernel cannot. */
static int wait_for(cping *pinger, struct epoll_event *ready, int capacity, uint64_t left_ns) {
#ifdef SYS_epoll_pwait2
    struct {
        int64_t seconds, nanoseconds;
    } timeout = {(int64_t)(left_ns / CPING__SECOND), (int64_t)(left_ns % CPING__SECOND)};
    if (pinger->knows_nanoseconds) {
        long count = syscall(SYS_epoll_pwait2, pinger->epoll_fd, ready, capacity, &timeout, NULL, 0);
        if (count >= 0 || errno != ENOSYS) return count > 0 ? (int)count : 0;
        pinger->knows_nanoseconds = 0;
    }
#else
    (void)pinger, (void)ready, (void)capacity, (void)left_ns;
#endif
    return -1;
}

int cping__wait_until(cping *pinger, struct epoll_event *ready, int capacity, uint64_t due_ns, int timeout_ms) {
    uint64_t now_ns = due_ns == CPING__NEVER ? 0 : cping__now();
    if (due_ns <= now_ns) return epoll_wait(pinger->epoll_fd, ready, capacity, 0);
    watch_all(pinger);
    uint64_t left_ns = due_ns - now_ns;
    int is_first = timeout_ms < 0 || left_ns <= (uint64_t)timeout_ms * CPING__MILLISECOND;
    if (is_first && left_ns <= NEAR && !pinger->is_polled) {
        int count = wait_for(pinger, ready, capacity, left_ns);
        if (count >= 0) return count;
    }
    set_timer(pinger, due_ns);
    return epoll_wait(pinger->epoll_fd, ready, capacity, timeout_ms);
}

void cping__timer_fired(cping *pinger) {
    /* Only setting it makes the descriptor silent again. */
    pinger->timer_ns = 0;
    set_timer(pinger, CPING__NEVER);
}

void cping__watch_fully(cping *pinger) {
    if (!pinger->is_polled) return;
    watch_all(pinger);
    set_timer(pinger, cping__next_due(pinger));
}
