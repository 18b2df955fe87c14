/* cping: a ping program over libcpinger. options.c has its options (--help). */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpinger.h"
#include "names.h"
#include "options.h"
#include "report.h"
#include "resolver.h"
#include "subject.h"
#include "targets.h"
#include "worker.h"

typedef struct run {
    options options;
    worker *workers;  /* target n belongs to worker n % threads */
    size_t opened, count, named;
    resolver *resolver;
    int failures;     /* targets that could not be opened */
} run;

/* ---- Signals ---- */

static run *signalled;

static void on_signal(int number) {
    int error = errno;
    for (size_t i = 0; i < signalled->opened; i++) {
        worker *w = &signalled->workers[i];
        atomic_store(number == SIGQUIT ? &w->wants_summary : &w->is_ending, 1);
        worker_wake(w);
    }
    errno = error;
}

static void catch_signals(run *r) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    signalled = r;
    for (int i = 0; i < 3; i++) sigaction(numbers[i], &action, NULL);
}

/* ---- Targets ---- */

/* `place`: the place in a file of targets, for messages; "": none. */
static void complain(run *r, const char *place, const char *name, const char *text) {
    fprintf(stderr, "cping: %s%s%s%s\n", place, name, name[0] ? ": " : "", text);
    r->failures++;
}

static subject *make_subject(const options *o, const char *name) {
    subject *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->target = o->target;
    s->order.threshold = o->outage_pings;
    s->name = strdup(name);
    if (s->name) return s;
    free(s);
    return NULL;
}

static const char *open_subject(run *r, subject *s) {
    const options *o = &r->options;
    const char *problem = names_resolve(s->name, o->family, o->port, &s->target.destination);
    if (problem) return problem;
    cping_address numeric;
    s->is_named = cping_address_parse(&numeric, s->name, 0) != 0;
    subject_move(s, &s->target.destination);
    if (o->source && cping_address_parse(&s->target.source, o->source, 0) != 0) return "-S is no address";
    if (s->target.source.family && s->target.source.family != s->target.destination.family) {
        return "is not of the family of -S";
    }
    return worker_add(&r->workers[r->count % o->threads], s);
}

static void add(run *r, const char *place, const char *name) {
    subject *s = make_subject(&r->options, name);
    const char *problem = s ? open_subject(r, s) : "no memory is left";
    if (!problem) {
        r->count++;
        r->named += (size_t)s->is_named;
        return;
    }
    complain(r, place, name, problem);
    if (s) subject_clear(s);
    free(s);
}

static void add_lines(run *r, const char *path, FILE *file) {
    char line[TARGETS_LINE], place[300];
    enum targets_line kind;
    for (unsigned long number = 1; (kind = targets_next(file, line)) != TARGETS_END; number++) {
        const char *problem = targets_problem(kind);
        snprintf(place, sizeof place, "%.250s:%lu: ", path, number);
        if (problem) complain(r, place, "", problem);
        else if (kind == TARGETS_NAME) add(r, place, line);
    }
    if (ferror(file)) complain(r, "", path, strerror(errno));
}

static void add_from(run *r, const char *path) {
    int is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "re");
    if (!file) {
        complain(r, "", path, strerror(errno));
        return;
    }
    add_lines(r, is_input ? "standard input" : path, file);
    if (!is_input) fclose(file);
}

static subject *subject_at(const run *r, size_t n) {
    return r->workers[n % r->options.threads].subjects[n / r->options.threads];
}

/* Starts each target a little after the one before, so that they are spread evenly over the interval. */
static int start_all(run *r) {
    uint64_t now_ns = cping_now();
    uint64_t interval_ns = r->options.target.interval_ns ? r->options.target.interval_ns : 100000000;
    for (size_t i = 0; i < r->count; i++) {
        cping *pinger = r->workers[i % r->options.threads].pinger;
        watch_heard(&subject_at(r, i)->watch, now_ns);
        int error = cping_start(pinger, subject_at(r, i)->id, now_ns + interval_ns / r->count * i);
        if (error) return error;
    }
    return 0;
}

/* ---- Threads ---- */

static void *run_worker(void *w) {
    worker_run(w);
    return NULL;
}

/* The first worker runs on this thread. A worker whose thread cannot be created runs after the first one. */
static void work(run *r) {
    size_t count = r->opened;
    pthread_t *threads = calloc(count, sizeof *threads);
    int *is_running = calloc(count, sizeof *is_running);
    for (size_t i = 1; i < count && threads && is_running; i++) {
        is_running[i] = pthread_create(&threads[i], NULL, run_worker, &r->workers[i]) == 0;
    }
    worker_run(&r->workers[0]);
    for (size_t i = 1; i < count; i++) {
        if (is_running && is_running[i]) pthread_join(threads[i], NULL);
        else worker_run(&r->workers[i]);
    }
    free(threads);
    free(is_running);
}

/* ---- The program ---- */

static int answered_all(const run *r) {
    for (size_t i = 0; i < r->count; i++) {
        if (subject_at(r, i)->answered == 0) return 0;
    }
    return r->failures == 0;
}

static int open_workers(run *r) {
    r->workers = calloc(r->options.threads, sizeof *r->workers);
    int error = r->workers ? 0 : -ENOMEM;
    while (error == 0 && r->opened < r->options.threads) {
        error = worker_open(&r->workers[r->opened], &r->options);
        if (error == 0) r->opened++;
    }
    if (error) fprintf(stderr, "cping: %s\n", cping_explain(error));
    return error;
}

/* Pings work without a resolver. */
static void watch_names(run *r) {
    int error = resolver_start(&r->resolver);
    if (error) fprintf(stderr, "cping: names will not be looked up again: %s\n", strerror(-error));
    for (size_t i = 0; i < r->opened; i++) r->workers[i].resolver = r->resolver;
}

/* Whether a target has sockets that are lost with their interface and that need a capability to reopen. */
static int must_reopen(const options *o) {
    return o->target.interface_name[0] || o->target.mark || (o->source && strchr(o->source, '%'));
}

static int open_all(run *r) {
    if (open_workers(r) != 0) return -1;
    if (r->options.verbose) report_environment(r->workers[0].pinger);
    for (size_t i = 0; i < r->options.name_count; i++) add(r, "", r->options.names[i]);
    if (r->options.file) add_from(r, r->options.file);
    /* Later threads inherit the remaining privileges. */
    int error = cping_drop_privileges(r->workers[0].pinger, must_reopen(&r->options) ? CPING_KEEP_RECOVERY : 0);
    if (error) fprintf(stderr, "cping: capabilities could not be dropped: %s\n", strerror(-error));
    if (r->count == 0 && r->failures == 0) fprintf(stderr, "cping: there is no target\n");
    if (r->named) watch_names(r);
    return r->count ? start_all(r) : -1;
}

static void close_all(run *r) {
    resolver_stop(r->resolver);
    for (size_t i = 0; i < r->opened; i++) worker_close(&r->workers[i]);
    free(r->workers);
}

/* Allocate large tables with mmap, so that sparse ones take only the pages in use: glibc would clear them in its heap. */
static void save_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 10);
#endif
}

int main(int argc, char **argv) {
    run r = {0};
    save_memory();
    int status = EXIT_CANNOT;
    options_read(&r.options, argc, argv);
    if (open_all(&r) == 0) {
        catch_signals(&r);
        work(&r);
        for (size_t i = 0; i < r.count; i++) report_summary(&r.options, subject_at(&r, i), NULL);
        status = answered_all(&r) ? EXIT_ANSWERED : EXIT_UNANSWERED;
    }
    close_all(&r);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "cping: standard output: %s\n", strerror(errno));
        status = EXIT_CANNOT;
    }
    return status;
}
