/* What the pinger's thread works on. Only that thread touches it, apart from the ring, the counters and the mailbox. */
#ifndef CPING__ENGINE_H
#define CPING__ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "channel.h"
#include "mailbox.h"
#include "pending.h"
#include "ring.h"
#include "schedule.h"

enum { CPING__COUNTERS = sizeof(cping_stats) / sizeof(uint64_t) };

enum cping__phase { CPING__IDLE, CPING__RUNNING, CPING__PAUSED, CPING__STOPPED, CPING__FINISHED };

typedef struct cping__target {
    cping__entry entry;  /* when something is due; must be first */
    int64_t id;
    cping_target config;
    cping__channel *channel;
    enum cping__phase phase;
    cping__grid grid;
    uint64_t slots;
    uint64_t open;             /* pings without a verdict */
    struct cping__pings pings;
    cping__ping *oldest_open;  /* all before it have a reply or a verdict; NULL: all */
    uint32_t newest_answered;
    int any_answered;
} cping__target;

struct cping {
    cping__ring ring;
    _Atomic uint64_t counters[CPING__COUNTERS];  /* laid out as cping_stats */
    int event_fd;
    _Atomic int closed;
    _Atomic int woken;
    cping__mailbox mailbox;
    pthread_t thread;

    int epoll_fd, timer_fd;
    uint64_t timer_ns;
    int stopping;
    int has_news;  /* the ring got events that the reader has not been told of */
    uint64_t linger_ns;
    uint32_t sequence;
    int64_t last_id;
    cping__target **targets;  /* in order of their ids */
    size_t target_count, target_capacity;
    LIST_HEAD(, cping__channel) channels;
    cping__agenda agenda;
    cping__pending pending;
    struct cping__pings stamp_waiters;
    uint64_t random[32];
    size_t random_left;
};

#define CPING__COUNT_MANY(pinger, field, n)                                                         \
    atomic_fetch_add_explicit(&(pinger)->counters[offsetof(cping_stats, field) / sizeof(uint64_t)], \
                              (uint64_t)(n), memory_order_relaxed)
#define CPING__COUNT(pinger, field) CPING__COUNT_MANY(pinger, field, 1)

/* engine.c */
int cping__engine_create(cping *pinger);
void cping__engine_destroy(cping *pinger);
void *cping__engine_main(void *pinger);
void cping__emit(cping *pinger, const cping_event *event);

/* sending.c: slots that are due, pings that are overdue. */
void cping__target_run(cping *pinger, cping__target *target, uint64_t now_ns);

/* verdicts.c: what becomes of a ping, in events and counters. */
cping_event cping__event(const cping__target *target, const cping__ping *ping, enum cping_kind kind);
void cping__open(cping *pinger, cping__target *target, cping__ping *ping);
void cping__replied(cping *pinger, cping__ping *ping, const cping__datagram *datagram, int refused);
void cping__send_stamp(cping *pinger, cping__ping *ping, int64_t stamp_ns);
void cping__stop_waiting(cping *pinger, cping__ping *ping);
void cping__lost(cping *pinger, cping__ping *ping);
void cping__icmp_error(cping *pinger, cping__ping *ping, const cping__notice *notice);
void cping__not_sent(cping *pinger, cping__target *target, cping__ping *ping, int error);
void cping__missed(cping *pinger, cping__target *target, uint64_t slot, uint64_t slot_ns, uint64_t count);
void cping__cancel(cping *pinger, cping__ping *ping);
void cping__forget(cping *pinger, cping__ping *ping);
void cping__target_changed(cping *pinger, cping__target *target);

/* replies.c: which ping a datagram or an error belongs to. */
void cping__read_datagrams(cping *pinger, cping__channel *channel);
int cping__read_notices(cping *pinger, cping__channel *channel);

/* commands.c */
int64_t cping__command_add(cping *pinger, const cping__command *command);
int64_t cping__command_start(cping *pinger, const cping__command *command);
int64_t cping__command_pause(cping *pinger, const cping__command *command);
int64_t cping__command_resume(cping *pinger, const cping__command *command);
int64_t cping__command_stop(cping *pinger, const cping__command *command);
int64_t cping__command_remove(cping *pinger, const cping__command *command);
int64_t cping__command_inspect(cping *pinger, const cping__command *command);
int64_t cping__command_shutdown(cping *pinger, const cping__command *command);

#endif
