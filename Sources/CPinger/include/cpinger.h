/*
 * cpinger: sends pings on an exact time grid and reports the verdict on each.
 *
 * One instance (`cping`) owns one thread. That thread owns the sockets, the schedule, the matching of replies and the
 * timeouts. Callers give it targets and read events:
 *
 *     cping *pinger;
 *     int error = cping_create(NULL, &pinger);
 *     int64_t target = cping_add(pinger, &(cping_target){ .protocol = CPING_RTR, ... });
 *     cping_start(pinger, target, 0);
 *     cping_event events[64];
 *     while (cping_wait(pinger, -1) >= 0) {
 *         size_t n = cping_read(pinger, events, 64);
 *         ...
 *     }
 *     cping_destroy(pinger);
 *
 * Conventions
 *  - Functions that can fail return 0 or a positive value for success and a negative errno otherwise. `cping_explain` gives
 *    the meaning of an error of `cping_create` or `cping_add` in words, with the missing privilege or resource.
 *  - Times are nanoseconds on CLOCK_BOOTTIME (`cping_now`), which neither jumps nor stops while the machine sleeps.
 *  - Structs are filled with zeroes first; a zero field means its default.
 *  - Every function may be called from any thread, with two exceptions: one thread at a time reads (`cping_read`,
 *    `cping_wait`), and nothing may run beside or after `cping_destroy`.
 *  - Commands (`cping_add` to `cping_remove`) return when the pinger's thread has carried them out, normally within
 *    microseconds. None of them waits for the network.
 *  - With CPING_OPTION_THREADLESS there is no thread: everything happens inside `cping_wait`, and all functions but
 *    `cping_wake` belong to one thread of the caller's. A ping then costs two wakeups instead of three.
 */
#ifndef CPINGER_H
#define CPINGER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cping cping;

/* ---- Addresses ---------------------------------------------------------------------------------------------------- */

typedef struct cping_address {
    uint8_t bytes[16];   /* network order; IPv4 uses the first four, the others are zero */
    /* Interface index of an IPv6 link-local address, else 0. The target remembers the interface's name, not its index. While the interface
     * is missing, nothing is sent; it may return with another index. */
    uint32_t scope_id;
    uint16_t port;       /* host order; 0 for ICMP */
    uint8_t family;      /* 4 or 6; 0: no address */
    uint8_t reserved;
} cping_address;

/* Reads a numeric IPv4 or IPv6 address, the latter with an optional %interface; no name is ever resolved.
 * Returns 0 or -EINVAL. */
int cping_address_parse(cping_address *address, const char *text, uint16_t port);

/* Writes "192.0.2.1" or "fe80::1%eth0" (without the port) and returns `text`. 64 bytes are always enough. */
const char *cping_address_format(const cping_address *address, char *text, size_t size);

/* ---- Instances ---------------------------------------------------------------------------------------------------- */

enum cping_option {
    CPING_OPTION_THREADLESS = 1,  /* `cping_wait` does the work; see above */
    CPING_OPTION_REALTIME = 2,    /* SCHED_FIFO where that is permitted; `cping_get_environment` says whether it was */
};

typedef struct cping_options {
    /* Events that wait for a slow reader before some are dropped; rounded up to a power of two. Default 4096: more than three
     * minutes of two targets at ten pings a second. At most 2^20. Threadless: 512 at least and by default; the pinger stops
     * working until there is room. Only commands that report at once can then lose some: `cping_remove` and `cping_shutdown` with
     * many pings under way, `cping_stop` of many targets with none, if nothing is read in between. */
    uint32_t ring_capacity;
    uint32_t reserved;
    /* How long after its timeout a ping is remembered, so that a reply is recognised as late or as a duplicate.
     * Default 10 s. */
    uint64_t linger_ns;
    uint32_t flags;       /* enum cping_option */
    /* The largest number of pings remembered after their verdict (some 130 bytes each); the oldest are dropped first.
     * Default 65536. Memory is bounded by this and by the pings under way. */
    uint32_t remembered;
} cping_options;

/* Starts an instance; `options` may be NULL. The sequence of RTR pings starts at a random number, which is chosen here
 * for all targets of the instance. */
int cping_create(const cping_options *options, cping **pinger);

/* Ends all targets (their pending pings are CPING_CANCELLED) and the thread. `cping_read` still returns the events in the
 * ring; when it is empty, `cping_wait` returns -ESHUTDOWN. Calling it again does nothing. */
void cping_shutdown(cping *pinger);

/* Shuts down, if that has not been done, and frees everything. NULL is allowed. */
void cping_destroy(cping *pinger);

/* Now, on the clock of all times here. */
uint64_t cping_now(void);

/* The meaning of a negative errno of these functions, in English words; never NULL. */
const char *cping_explain(int error);

/* The host's answers to requests for privileges. */
typedef struct cping_environment {
    uint64_t timer_slack_ns;  /* of the pinger's thread; 1 was asked for */
    int32_t realtime;         /* 1: the thread runs as SCHED_FIFO; 0: not asked for; else a negative errno */
    int32_t network_watch;    /* 1: the kernel reports changed links, addresses and routes; else a negative errno */
} cping_environment;

void cping_get_environment(const cping *pinger, cping_environment *environment);

/* ---- Targets ------------------------------------------------------------------------------------------------------ */

enum cping_protocol {
    CPING_RTR = 1,   /* UDP, 24 bytes RP01 + sequence + token; answered by RR01 or RE01 */
    CPING_ICMP = 2,  /* ICMP or ICMPv6 echo */
    CPING_ONEWAY = 3,  /* UDP, docs/one-way-format.md: the far side adds its own stamps and counters */
    CPING_UDP_ECHO = 4,  /* UDP to an echo service (RFC 862): the payload comes back as it was */
};

enum cping_socket {
    CPING_SOCKET_AUTO = 0,      /* ICMP: datagram, and raw where that is not permitted */
    CPING_SOCKET_DATAGRAM = 1,  /* needs the group in net.ipv4.ping_group_range for ICMP; nothing for RTR */
    CPING_SOCKET_RAW = 2,       /* ICMP only; needs CAP_NET_RAW */
};

enum cping_target_flag {
    /* As fast as replies come in: a new ping as soon as fewer than `window` are under way. There is no grid; `slot_ns` is
     * when the ping was made. `interval_ns`, if not 0, is the least time between two pings on average. Targets that share a
     * socket (all that ask for the same protocol, family and socket options) take turns, a batch each, and have no more pings
     * under way together than its receive buffer holds: with CAP_NET_ADMIN some 1900 small ones. */
    CPING_TARGET_FLOOD = 1,
    CPING_TARGET_DONT_FRAGMENT = 2,  /* DF, and the path MTU in the kernel's cache is ignored, so that routers report theirs */
    CPING_TARGET_ICMP_ID = 4,        /* `icmp_id` is the echo identifier; otherwise a random one is used */
    /* The interface or the source address can be absent: while it is, slots are CPING_NOT_SENT. (An interface that existed
     * and disappeared can always be absent.) */
    CPING_TARGET_AWAIT = 8,
    CPING_TARGET_REPORT_TTL = 16,  /* events of replies have the `ttl` with which the reply arrived */
};

typedef struct cping_target {
    enum cping_protocol protocol;
    enum cping_socket socket;
    cping_address destination;
    uint8_t token[16];        /* RTR: the 16 bytes of the decoded ping token */
    char interface_name[16];  /* pings are bound to this interface; "": the routing table decides */
    uint64_t interval_ns;     /* from slot to slot, at least 1 ms; default 100 ms */
    uint64_t timeout_ns;      /* from sending; a reply after exactly this time is still in time; default 1 s */
    uint64_t count;           /* slots until the target finishes by itself; 0: endless */
    uint32_t flags;           /* enum cping_target_flag */
    uint32_t window;          /* of CPING_TARGET_FLOOD: pings under way at most; default 64, at most 65536 */
    /* ICMP: bytes after the echo header, 12 to 65507, default 56. One-way: all of the datagram, 72 to 65507, default 72. UDP echo:
     * all of the datagram, 18 to 65507, default 24. RTR: 0, its format is fixed. */
    uint16_t size;
    uint8_t ttl;              /* or hop limit; 0: the host's default */
    uint8_t traffic_class;    /* the whole byte: DSCP << 2 */
    uint32_t mark;            /* SO_MARK for policy routing, needs CAP_NET_ADMIN (since Linux 5.17 or CAP_NET_RAW); 0: none */
    uint16_t icmp_id;
    uint16_t reserved;
    cping_address source;     /* pings carry this address (its port is ignored) or are not sent; family 0: the kernel's choice */
} cping_target;

/* Opens the target's sockets and returns its id (> 0, never used twice). It does not send before `cping_start`.
 *   -EACCES        ICMP: neither ping_group_range nor CAP_NET_RAW permits an echo socket (or not the one asked for)
 *   -ENODEV        there is no interface of that name
 *   -EPERM         binding to an interface or a mark is not permitted
 *   -EADDRNOTAVAIL no interface has the source address
 *   -EAFNOSUPPORT  no such address family on this host
 *   -EINVAL        a field is out of range
 *   -EMFILE, -ENOMEM, -ENOBUFS  a limit of the host; -ESHUTDOWN after `cping_shutdown` */
int64_t cping_add(cping *pinger, const cping_target *target);

/* The target's slots are `first_slot_ns` + n * interval, n = 0, 1, 2 ... Whatever happens, that grid stays: there is no
 * drift, and a slot whose time has passed before the thread could send is CPING_NOT_SENT, never made up for later.
 * `first_slot_ns` 0 means now. -EALREADY when started before, -ENOENT for an unknown id (as in all functions below). */
int cping_start(cping *pinger, int64_t target, uint64_t first_slot_ns);

/* No more slots. When the last pending ping has its verdict, CPING_FINISHED follows, as when `count` is reached. */
int cping_stop(cping *pinger, int64_t target);

/* Forgets the target: pending pings are CPING_CANCELLED, then CPING_REMOVED is its last event. Replies that arrive later
 * are unknown. */
int cping_remove(cping *pinger, int64_t target);

/* The same ping target at another address of the same family from the next slot on; slots, grid and count go on. Replies
 * from earlier addresses still count for pings that were sent there, as long as these are remembered. -ENOMEM: the address stays. */
int cping_redirect(cping *pinger, int64_t target, const cping_address *destination);

/* ---- Privileges --------------------------------------------------------------------------------------------------- */

/* Whether `target` could be opened now by this thread: 0, or the error of `cping_add`, and in `text` exactly what is
 * missing ("CAP_NET_RAW is not among ... and group 1000 is not in net.ipv4.ping_group_range (1 0)"). */
int cping_diagnose(const cping_target *target, char *text, size_t size);

enum cping_keep {
    /* CAP_NET_RAW stays with the threads of pingers (threadless: that which called `cping_create`) and captures, and with
     * them alone (with CAP_NET_ADMIN, for marks). Without it these do not outlive the loss of their interface: captures, raw
     * sockets bound to one or to a link-local source, and sockets with a mark. What needs no privilege (UDP; datagram ICMP by
     * ping_group_range) is reopened without a privilege, on Linux 5.7 and later. */
    CPING_KEEP_RECOVERY = 1,
    /* CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER and CAP_FSETID stay with all threads, and with programs that
     * are started: for root that writes where others own the folders. */
    CPING_KEEP_FILES = 2,
};

/* Drops the capabilities of the calling thread and of the pinger's (NULL: of the calling one alone): permitted, effective,
 * inheritable, ambient and, with CAP_SETPCAP, the bounding set; and sets no_new_privs, so that programs that are started
 * gain nothing by set-user-id or file capabilities. Call it when all targets are added; open sockets keep working. `keep` is 0
 * or of enum cping_keep. Returns 0 or a negative errno. */
int cping_drop_privileges(cping *pinger, unsigned keep);

/* The same in every existing and future thread of the process. The remaining capabilities of each are read back from /proc.
 * SIGSYS makes the threads drop theirs; its handler is chained and stays. Blocking calls can end with EINTR, as with any signal. On a
 * failure no thread has more than before.
 *   -EBUSY   a thread has blocked SIGSYS for 2 s; it drops as soon as it no longer does
 *   -ENOENT  there is no /proc: only the calling thread is known to have dropped */
int cping_drop_process_privileges(unsigned keep);

/* ---- The state of a target ---------------------------------------------------------------------------------------- */

enum cping_stamps {
    CPING_STAMPS_UNTRIED = 0,
    CPING_STAMPS_DELIVERED = 1,
    CPING_STAMPS_MISSING = 2,  /* several pings in a row got none: replies no longer wait for them */
};

typedef struct cping_target_info {
    enum cping_socket socket;  /* which kind was opened: CPING_SOCKET_DATAGRAM or CPING_SOCKET_RAW */
    uint16_t local_port;       /* RTR: our UDP port; ICMP: the echo identifier */
    uint16_t reserved;
    uint64_t slots;            /* slots so far, missed ones included */
    uint64_t pending;          /* pings without a verdict yet */
    enum cping_stamps send_stamps;  /* whether the kernel delivers them for this target, found by trying */
    int32_t blocked;           /* 0, or why pings cannot be sent now (ENODEV: the interface, that of a link-local address
                                  included, is not there) */
    /* Counts as in cping_stats, of this target alone. */
    uint64_t sent, answered, lost, refused, icmp_errors, not_sent, cancelled, late, duplicates, reordered, corrupt;
    /* One-way: of the lost, those that are known not to have reached the far side, and those that did. */
    uint64_t lost_up, lost_down;
    /* One-way: the far side's counters in its newest reply. */
    uint32_t far_received, far_sent, far_duplicates;
} cping_target_info;

int cping_inspect(cping *pinger, int64_t target, cping_target_info *info);

/* ---- Events ------------------------------------------------------------------------------------------------------- */

enum cping_kind {
    /* Verdicts. Every slot gets exactly one. */
    CPING_ANSWERED = 1,    /* in time; `rtt_ns` */
    CPING_LOST = 2,        /* no reply within the timeout */
    CPING_REFUSED = 3,     /* RE01 in time: the server knows the token but not from this address; `rtt_ns` */
    CPING_ICMP_ERROR = 4,  /* an ICMP error came back; `icmp_type`, `icmp_code`, `error`, `from` (the reporting host) */
    CPING_NOT_SENT = 5,    /* `error` says why; ETIME: the slot passed while the thread could not run, see `count` */
    CPING_CANCELLED = 6,   /* the target was removed first */

    /* Replies after a verdict. */
    CPING_LATE = 16,       /* a first reply after CPING_LOST or CPING_ICMP_ERROR; `rtt_ns` */
    CPING_DUPLICATE = 17,  /* one more reply; `rtt_ns` is its own */
    CPING_CORRUPT = 18,    /* a reply whose bytes differ from those sent. It does not count as a reply: the verdict follows, or was
                              given. If the damage hides `slot` and `sequence`, `sent_ns` is 0 */
    CPING_ELSEWHERE = 19,  /* a reply from another address than the ping's, `from`, as of a host with several addresses. It does not
                              count as a reply: the verdict follows. Once for each ping */

    /* About a target or the instance. */
    CPING_FINISHED = 32,   /* stopped or counted out, and every verdict given */
    CPING_REMOVED = 33,    /* the last event of this target */
    CPING_OVERFLOW = 34,   /* the ring was full: `count` events before this one are missing; `target` is 0 */
};

enum cping_stamp {
    CPING_STAMP_NONE = 0,
    CPING_STAMP_KERNEL = 1,  /* software stamp of the kernel, taken where the packet passed the driver */
    CPING_STAMP_CLOCK = 2,   /* CLOCK_BOOTTIME, read right before sending and right after receiving */
};

enum cping_flag {
    CPING_FLAG_CLOCK_STEP = 1,      /* CLOCK_REALTIME was set between the two kernel stamps; they were not used */
    CPING_FLAG_NO_SEND_STAMP = 2,   /* the kernel gave no send stamp */
    CPING_FLAG_NO_RECEIVE_STAMP = 4,
    CPING_FLAG_STAMPS_ABSURD = 8,   /* negative, or longer than the bound; they were not used */
    CPING_FLAG_REORDERED = 16,      /* a later ping of this target was answered before */
    CPING_FLAG_REFUSED = 32,        /* CPING_LATE or CPING_DUPLICATE: the reply was RE01 */
    CPING_FLAG_LOST_UP = 64,        /* CPING_LOST, one-way: later pings arrived at the far side, this one had not */
    CPING_FLAG_LOST_DOWN = 128,     /* CPING_LOST, one-way: it arrived at the far side; the reply is lost */
};

typedef struct cping_event {
    int64_t target;
    uint64_t slot;          /* number of the slot within its target, from 0 */
    uint64_t slot_ns;       /* when the ping was scheduled: this is the ping's time */
    uint64_t sent_ns;       /* when it was sent; 0 if it was not */
    uint64_t event_ns;      /* when the reply was read or the verdict reached */
    int64_t rtt_ns;         /* round trip; -1: none. Always the difference of two readings of one clock */
    int64_t rtt_bound_ns;   /* from before sending to after reading by CLOCK_BOOTTIME, an upper bound; -1: none */
    uint64_t count;         /* 1; for CPING_NOT_SENT with ETIME, how many slots from `slot` on, an interval apart, were
                               missed in a row; for CPING_OVERFLOW, how many events were dropped */
    uint32_t sequence;      /* RTR: as on the wire. ICMP: the low 16 bits are on the wire. 0 if nothing was built */
    int32_t error;          /* a positive errno, or 0 */
    enum cping_kind kind;
    uint8_t send_stamp;     /* enum cping_stamp: where the two ends of `rtt_ns` come from */
    uint8_t receive_stamp;
    uint8_t icmp_type;      /* of CPING_ICMP_ERROR */
    uint8_t icmp_code;
    uint32_t flags;         /* enum cping_flag */
    cping_address from;     /* the sender of the reply or report; family 0: none */
    /* One-way replies only. The two clocks are not set alike: a single figure means nothing, the difference between those of
     * two pings is the variation of the delay in that direction. Near times are on CLOCK_BOOTTIME. */
    uint8_t far_stamp;      /* enum cping_stamp of the far side's receiving; CPING_STAMP_NONE: not a one-way reply */
    uint8_t far_restarted;  /* the far side restarted its counters with this ping */
    uint8_t ttl;            /* of any reply: its TTL or hop limit on arrival; 0: not known */
    uint8_t reserved;
    uint32_t mtu;           /* of CPING_ICMP_ERROR "too big", and of CPING_NOT_SENT with EMSGSIZE: the MTU of the link that it did not fit; 0:
                             * none reported */
    uint32_t far_received, far_sent, far_duplicates;  /* the far side's counters when it replied */
    uint64_t far_receive_ns, far_send_ns;             /* on a clock of the far side that is never set */
    int64_t up_ns;          /* far receiving - near sending */
    int64_t down_ns;        /* near receiving - far sending */
} cping_event;

/* Moves up to `capacity` events, oldest first, into `buffer` and returns their number; 0 when there are none now. */
size_t cping_read(cping *pinger, cping_event *buffer, size_t capacity);

/* Blocks until there are events. Returns 1 if there is, 0 after `timeout_ms` (-1: no limit, 0: only look) or
 * after `cping_wake`, -ESHUTDOWN when the instance is shut down and all its events are read. */
int cping_wait(cping *pinger, int timeout_ms);

/* Makes the present or else the next `cping_wait` return. */
void cping_wake(cping *pinger);

/* A descriptor that polls readable when there are events, for callers with their own loop (which then calls
 * `cping_read` until it returns 0). Threadless: when there is work; then call `cping_wait` with 0 first. It
 * belongs to the instance. */
int cping_event_fd(const cping *pinger);

/* "answered", "lost", ... */
const char *cping_kind_name(enum cping_kind kind);

/* ---- Counters ----------------------------------------------------------------------------------------------------- */

/* Sums since `cping_create` over all targets. They are read one by one while the thread runs: each is exact, but two can
 * differ by a ping. */
typedef struct cping_stats {
    uint64_t sent;               /* datagrams that the kernel accepted */
    uint64_t answered, lost, refused, icmp_errors, not_sent, cancelled;  /* verdicts, by slot */
    uint64_t late, duplicates, reordered;
    uint64_t foreign_source;     /* datagrams from another address or port than the target's, pings of other programs */
    uint64_t unknown_sequence;   /* from the right source, but no ping of that number is remembered */
    uint64_t unknown_magic;      /* neither RR01 nor RE01, or not an echo reply */
    uint64_t short_replies;
    uint64_t corrupt;            /* ICMP and one-way: the payload differs from the one sent */
    uint64_t unmatched_errors;   /* ICMP errors that belong to no pending ping, or could belong to several */
    uint64_t no_send_stamp, no_receive_stamp, absurd_stamps, clock_steps;
    uint64_t dropped_events;     /* the ring was full */
    uint64_t wakeups;            /* of the thread */
    uint64_t network_changes;    /* changes of links, addresses and routes that the kernel reported */
    uint64_t reopened;           /* sockets bound again to an interface that came back */
} cping_stats;

void cping_get_stats(const cping *pinger, cping_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
