/* The state of the pinger's thread. Only that thread accesses it, except for the ring, the counters and the mailbox. */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>

#include "capabilities.h"
#include "channel.h"
#include "directory.h"
#include "flood.h"
#include "mailbox.h"
#include "oneway.h"
#include "outbox.h"
#include "pending.h"
#include "places.h"
#include "ring.h"
#include "schedule.h"

enum { CPING__COUNTERS = sizeof(cping_stats) / sizeof(uint64_t) };

enum cping__phase { CPING__IDLE, CPING__RUNNING, CPING__STOPPED, CPING__FINISHED };

typedef struct cping__target {
    cping__entry entry;  /* when something is due; must be first */
    int64_t id;
    cping_target config;
    cping__channel *channel;
    struct cping__target *same_bucket;  /* of the directory */
    enum cping__phase phase;
    cping__grid grid;
    TAILQ_ENTRY(cping__target) flooder;
    int is_flooding;        /* in the list of its channel */
    uint32_t flood_credit;  /* pings that may leave now; without a pace 1: any number */
    uint64_t flood_ns;      /* without credit: no ping before this */
    uint64_t slots;
    uint64_t open;                         /* pings without a verdict */
    struct cping__pings open_pings;        /* without those that wait for their stamp; in order of sending */
    uint64_t remembered;                   /* pings with a verdict */
    uint64_t unexplained;                  /* of these, pings that are lost and of which nothing was heard */
    uint64_t newest_answered;              /* its slot */
    int any_answered;
    uint64_t session;                      /* one-way */
    uint32_t number;                       /* of the newest ping; goes round */
    uint64_t far_since;                    /* the slot with whose ping the far side began to count */
    uint64_t far_counted;                  /* the newest slot whose reply had the far side's counters */
    char scope_name[16];                   /* the interface of a link-local destination; "": it is none */
    int blocked;                           /* a negative errno while that interface is not there */
    cping__places places;
    cping_target_info totals;              /* its counters are kept here */
} cping__target;

/* A reply, until its verdict is given. */
typedef struct cping__reply {
    cping__moment at;
    cping_address from;
    uint8_t ttl;
    int refused;
    int is_oneway;
    cping__oneway oneway;
} cping__reply;

struct cping {
    cping__ring ring;
    _Atomic uint64_t counters[CPING__COUNTERS];  /* laid out as cping_stats */
    int event_fd;
    _Atomic int closed;
    _Atomic int woken;
    _Atomic int is_signalled;  /* the reader's descriptor is set for events, and has not been cleared since */
    _Atomic int flood_waits;  /* for the reader */
    cping__mailbox mailbox;
    pthread_t thread;
    sem_t ready;
    int threadless;
    int wants_realtime;
    cping__recoverer recoverer;
    cping_environment environment;

    int epoll_fd, timer_fd, network_fd;
    uint64_t timer_ns;
    int is_polled;  /* threadless: the caller waits for epoll's descriptor */
    int stopping;
    int has_news;  /* the ring has events that were not signalled to the reader */
    uint64_t linger_ns;
    uint64_t remembered_limit, remembered;
    uint64_t former_places;  /* of all targets */
    uint64_t read_until_ns;  /* all that had arrived by then is read when the present round is over, unless something is left */
    int has_unread;          /* in this round something was left */
    struct cping__pings finished;  /* those remembered, in order of their verdicts */
    uint32_t sequence;
    int64_t last_id;
    cping__target **targets;  /* in order of their ids */
    size_t target_count, target_capacity;
    LIST_HEAD(, cping__channel) channels;
    cping__directory directory;
    cping__agenda agenda;
    cping__pending pending;
    struct cping__pings stamp_waiters;
    cping__batch *batch;
    cping__outbox *outbox;
    uint64_t random[32];
    size_t random_left;
};

/* One thread writes, so that no locked instruction is needed. */
static inline void cping__count(_Atomic uint64_t *counter, uint64_t n) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

#define CPING__COUNT_MANY(pinger, field, n) \
    cping__count(&(pinger)->counters[offsetof(cping_stats, field) / sizeof(uint64_t)], (uint64_t)(n))
#define CPING__COUNT(pinger, field) CPING__COUNT_MANY(pinger, field, 1)

static inline int cping__floods(const cping__target *target) {
    return (target->config.flags & CPING_TARGET_FLOOD) != 0;
}

static inline int cping__is_paced(const cping__target *target) {
    return target->config.interval_ns != 0;
}

/* engine.c */
int cping__engine_create(cping *pinger);
void cping__engine_destroy(cping *pinger);
void cping__engine_prepare_thread(cping *pinger);
void *cping__engine_main(void *pinger);
void cping__run_once(cping *pinger, int timeout_ms);
uint64_t cping__next_due(cping *pinger);

/* events.c: events for the reader. Without a ping, an event is about the target. */
cping_event cping__event(const cping__target *target, const cping__ping *ping, enum cping_kind kind);
cping_event cping__event_at(const cping__target *target, const cping__ping *ping, enum cping_kind kind, uint64_t event_ns);
void cping__emit(cping *pinger, const cping_event *event);

/* Signals the reader's descriptor once for all new events: a reader with its own schedule costs no call per event. */
void cping__tell_reader(cping *pinger);
void cping__tell_news(cping *pinger);

/* Whether the ring has room. In a threadless instance no reader can empty the ring meanwhile, so code that produces many events stops when
 * this returns 0. */
int cping__has_room(const cping *pinger);

/* watch.c: the descriptors that epoll watches, and waiting for them. */
int cping__watch(cping *pinger, cping__channel *channel);
void cping__rewatch(cping *pinger);
int cping__wait_until(cping *pinger, struct epoll_event *ready, int capacity, uint64_t due_ns, int timeout_ms);
void cping__timer_fired(cping *pinger);

/* Threadless: registers everything in epoll before returning, so that the caller can wait on its descriptor until `due_ns`. */
void cping__watch_fully(cping *pinger, uint64_t due_ns);

/* network.c */
int cping__network_open(cping *pinger);
void cping__network_read(cping *pinger);
void cping__network_refresh(cping *pinger, cping__channel *channel);

/* A link-local destination follows its interface by name, since that has another index when it comes back. */
void cping__scope_note(cping__target *target);

/* `blocked` and the destination are up to date afterwards. */
void cping__scope_refresh(cping__target *target);

/* sending.c: slots that are due, pings that are overdue. */
void cping__target_run(cping *pinger, cping__target *target, uint64_t now_ns);
void cping__send_slot(cping *pinger, cping__target *target, uint64_t slot_ns, uint64_t now_ns);

/* Pings with a verdict: those beyond the limit; those whose time was over when all had been read. */
void cping__forget_surplus(cping *pinger);
void cping__forget_old(cping *pinger);
uint64_t cping__random(cping *pinger);

/* verdicts.c: verdicts on pings, in events and counters. */
void cping__replied(cping *pinger, cping__ping *ping, const cping__reply *reply);
void cping__send_stamp(cping *pinger, cping__ping *ping, int64_t stamp_ns);
void cping__stop_waiting(cping *pinger, cping__ping *ping);
void cping__lost(cping *pinger, cping__ping *ping);
void cping__icmp_error(cping *pinger, cping__ping *ping, const cping__notice *notice);
void cping__corrupt(cping *pinger, cping__target *target, cping__ping *ping, const cping__datagram *datagram);
void cping__elsewhere(cping *pinger, cping__ping *ping, const cping__datagram *datagram);
void cping__not_sent(cping *pinger, cping__ping *ping, int error);
void cping__missed(cping *pinger, cping__target *target, uint64_t slot, uint64_t slot_ns, uint64_t count);
void cping__no_memory(cping *pinger, cping__target *target, uint64_t slot, uint64_t slot_ns);
void cping__cancel(cping *pinger, cping__ping *ping);
void cping__forget(cping *pinger, cping__ping *ping);

/* An error came back for a ping that has its verdict. */
void cping__explained(cping__ping *ping);

/* progress.c: how far a target is. */
/* The time of a flood's next ping has come. */
void cping__flood_due(cping__target *target, uint64_t now_ns);

/* A ping could not be sent: delays the next one of a flood, so that slots are not used up at full speed while nothing can be sent. */
void cping__flood_hold(cping__target *target, uint64_t now_ns);
void cping__opened(cping__target *target);
void cping__closed(cping__target *target);
void cping__target_changed(cping *pinger, cping__target *target);

/* replies.c and errors.c: which ping a datagram or a notice belongs to. */
cping__ping *cping__find_ping(cping *pinger, const cping__channel *channel, const cping_address *address,
                              uint32_t sequence);
cping__ping *cping__find_wire_sequence(cping *pinger, const cping__channel *channel, const cping_address *address,
                                       uint16_t wire_sequence);

/* The largest number of hauls that is read at once, so that a flood of foreign datagrams cannot block sending. 1: the socket is empty,
 * 0: there can be more. */
enum { CPING__HAULS_AT_ONCE = 16 };
int cping__read_datagrams(cping *pinger, cping__channel *channel);
int cping__read_notices(cping *pinger, cping__channel *channel);

/* errors.c: reads all datagrams that had arrived by `now_ns`; must be called before a ping is declared lost. Returns 0 when the
 * event ring is full: no verdict is possible yet. */
int cping__read_arrived(cping *pinger, cping__channel *channel, uint64_t now_ns);

/* commands.c */
int64_t cping__command_add(cping *pinger, const cping__command *command);
int64_t cping__command_start(cping *pinger, const cping__command *command);
int64_t cping__command_stop(cping *pinger, const cping__command *command);
int64_t cping__command_remove(cping *pinger, const cping__command *command);
int64_t cping__command_inspect(cping *pinger, const cping__command *command);
int64_t cping__command_redirect(cping *pinger, const cping__command *command);
int64_t cping__command_drop(cping *pinger, const cping__command *command);
int64_t cping__command_shutdown(cping *pinger, const cping__command *command);

/* target.c */
cping_target cping__target_defaults(const cping_target *config);
int cping__target_is_valid(const cping_target *config);
