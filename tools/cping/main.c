/* cping, a small ping program: the example of libcpinger, and the program that tools/bench-ping measures. options.c has its options. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cping.h"

/* With the pings under way of a flood they fit into the smallest table, and the program into 2 MB. */
enum { FLOOD_REMEMBERED = 900 };

typedef struct run {
    options options;
    cping *pinger;
    host *hosts;  /* in the order of their ids */
    size_t count, finished;
} run;

/* ---- Signals ---- */

static cping *signalled;
static volatile sig_atomic_t signals;

static void on_signal(int number) {
    int error = errno;
    (void)number;
    if (signals < 2) signals++;
    cping_wake(signalled);
    errno = error;
}

static void catch_signals(cping *pinger) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    signalled = pinger;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- Targets ---- */

/* The library reads numeric addresses only, so names are resolved here, to their first address. NULL, or the error. */
static const char *find_address(const char *name, uint16_t port, cping_address *address) {
    if (cping_address_parse(address, name, port) == 0) return NULL;
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_ADDRCONFIG}, *found;
    char text[NI_MAXHOST];
    int error = getaddrinfo(name, NULL, &hints, &found);
    if (error) return gai_strerror(error);
    error = getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    freeaddrinfo(found);
    if (error) return gai_strerror(error);
    return cping_address_parse(address, text, port) == 0 ? NULL : "has no usable address";
}

static int add(run *r, const char *name) {
    static char reason[320];
    cping_target target = r->options.target;
    host *h = &r->hosts[r->count];
    const char *problem = find_address(name, r->options.port, &target.destination);
    if (!problem) {
        h->name = name;
        h->id = cping_add(r->pinger, &target);
        cping_address_format(&target.destination, h->address, sizeof h->address);
        if (h->id > 0) {
            r->count++;
            return 0;
        }
        cping_diagnose(&target, reason, sizeof reason);
        problem = reason;
    }
    fprintf(stderr, "cping: %s: %s\n", name, problem);
    return -1;
}

/* Starts each target a little after the one before, so that they are spread evenly over the interval. */
static int start_all(run *r) {
    uint64_t now_ns = cping_now();
    uint64_t interval_ns = r->options.target.interval_ns ? r->options.target.interval_ns : 100000000;
    for (size_t i = 0; i < r->count; i++) {
        int error = cping_start(r->pinger, r->hosts[i].id, now_ns + interval_ns / r->count * i);
        if (error) return error;
    }
    return 0;
}

static int open_all(run *r) {
    const options *o = &r->options;
    /* A flood at realtime priority would block other processes. */
    cping_options settings = {.flags = CPING_OPTION_THREADLESS | (o->is_flood ? 0 : CPING_OPTION_REALTIME),
                              .remembered = o->is_flood ? FLOOD_REMEMBERED : 0};
    int error = cping_create(&settings, &r->pinger);
    r->hosts = calloc(o->name_count, sizeof *r->hosts);
    if (error == 0 && !r->hosts) error = -ENOMEM;
    for (size_t i = 0; error == 0 && i < o->name_count; i++) {
        if (add(r, o->names[i]) != 0) return -1;
    }
    if (error == 0) {
        /* A socket that is bound to an interface is lost with it, and reopening it needs a capability. */
        int dropped = cping_drop_privileges(r->pinger, o->target.interface_name[0] ? CPING_KEEP_RECOVERY : 0);
        if (dropped) fprintf(stderr, "cping: capabilities could not be dropped: %s\n", strerror(-dropped));
        error = start_all(r);
    }
    if (error) fprintf(stderr, "cping: %s\n", cping_explain(error));
    return error;
}

/* ---- Events ---- */

static int compare_ids(const void *a, const void *b) {
    int64_t x = ((const host *)a)->id, y = ((const host *)b)->id;
    return (x > y) - (x < y);
}

static void note_round_trip(host *h, int64_t rtt_ns) {
    if (h->rtt_max_ns == 0 || rtt_ns < h->rtt_min_ns) h->rtt_min_ns = rtt_ns;
    if (rtt_ns > h->rtt_max_ns) h->rtt_max_ns = rtt_ns;
    h->rtt_sum_ns += rtt_ns;
}

static void handle(run *r, const cping_event *event) {
    host key = {.id = event->target};
    host *h = bsearch(&key, r->hosts, r->count, sizeof *r->hosts, compare_ids);
    if (!h) return;
    if (event->kind == CPING_ANSWERED) note_round_trip(h, event->rtt_ns);
    if (event->kind == CPING_FINISHED) r->finished++;
    if (event->kind < CPING_FINISHED) report_event(&r->options, h, event);
}

static void read_all(run *r) {
    cping_event events[16];
    size_t count;
    while ((count = cping_read(r->pinger, events, 16)) > 0) {
        for (size_t i = 0; i < count; i++) handle(r, &events[i]);
    }
}

/* A target with nothing under way finishes at once: reading in between makes room for the event. */
static void stop_all(run *r) {
    for (size_t i = 0; i < r->count; i++) {
        cping_stop(r->pinger, r->hosts[i].id);
        read_all(r);
    }
}

/* The first signal ends sending; the second does not wait for the verdicts on the pings under way. */
static void ping(run *r) {
    int is_stopped = 0;
    while (r->finished < r->count && signals < 2 && cping_wait(r->pinger, -1) >= 0) {
        read_all(r);
        if (signals && !is_stopped) stop_all(r);
        is_stopped = signals > 0;
        /* Flush, so that lines appear at once; not in a flood, where a write for each line costs too much. */
        if (!r->options.is_flood) fflush(stdout);
    }
}

/* Returns whether every target has answered. */
static int sum_up(const run *r) {
    int have_all_answered = 1;
    for (size_t i = 0; i < r->count; i++) {
        cping_target_info info = {0};
        cping_inspect(r->pinger, r->hosts[i].id, &info);
        report_summary(&r->options, &r->hosts[i], &info);
        if (info.answered == 0) have_all_answered = 0;
    }
    return have_all_answered;
}

int main(int argc, char **argv) {
    run r = {0};
    int status = EXIT_CANNOT;
#ifdef __GLIBC__
    /* Allocate large tables with mmap, so that sparse ones take only the pages in use: glibc would clear them in its heap. */
    mallopt(M_MMAP_THRESHOLD, 32 << 10);
#endif
    options_read(&r.options, argc, argv);
    if (open_all(&r) == 0) {
        catch_signals(r.pinger);
        ping(&r);
        status = sum_up(&r) ? EXIT_ANSWERED : EXIT_UNANSWERED;
    }
    cping_destroy(r.pinger);
    free(r.hosts);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "cping: standard output: %s\n", strerror(errno));
        status = EXIT_CANNOT;
    }
    return status;
}
