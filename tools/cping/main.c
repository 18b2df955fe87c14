/* cping: a ping program over libcpinger. What it can do is in options.c (--help). */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpinger.h"
#include "names.h"
#include "options.h"
#include "report.h"
#include "subject.h"

typedef struct run {
    options options;
    cping *pinger;
    subject **subjects;  /* in order of their ids */
    size_t count, capacity, done;
    int failures;        /* targets that could not be opened */
} run;

/* ---- Signals ---- */

static cping *woken;
static volatile sig_atomic_t is_ending, wants_summary;

static void on_signal(int number) {
    int error = errno;
    if (number == SIGQUIT) wants_summary = 1;
    else is_ending = 1;
    cping_wake(woken);
    errno = error;
}

static void catch_signals(cping *pinger) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    woken = pinger;
    for (int i = 0; i < 3; i++) sigaction(numbers[i], &action, NULL);
}

/* ---- Targets ---- */

static void complain(run *r, const char *name, const char *text) {
    fprintf(stderr, "cping: %s: %s\n", name, text);
    r->failures++;
}

static int reserve(run *r) {
    if (r->count < r->capacity) return 0;
    size_t capacity = r->capacity ? r->capacity * 2 : 8;
    subject **subjects = realloc(r->subjects, capacity * sizeof(subject *));
    if (!subjects) return -1;
    r->subjects = subjects;
    r->capacity = capacity;
    return 0;
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
    static char text[320];
    const options *o = &r->options;
    const char *problem = names_resolve(s->name, o->family, o->port, &s->target.destination);
    if (problem) return problem;
    if (o->source && cping_address_parse(&s->target.source, o->source, 0) != 0) return "-S is no address";
    if (s->target.source.family && s->target.source.family != s->target.destination.family) {
        return "is not of the family of -S";
    }
    s->id = cping_add(r->pinger, &s->target);
    if (s->id > 0) return NULL;
    cping_diagnose(&s->target, text, sizeof text);
    return text;
}

static void add(run *r, const char *name) {
    subject *s = reserve(r) == 0 ? make_subject(&r->options, name) : NULL;
    const char *problem = s ? open_subject(r, s) : "no memory is left";
    if (!problem) {
        r->subjects[r->count++] = s;
        return;
    }
    complain(r, name, problem);
    if (s) subject_clear(s);
    free(s);
}

static void add_line(run *r, char *line) {
    line[strcspn(line, "#\r\n")] = 0;
    char *name = strtok(line, " \t");
    if (name) add(r, name);
}

static void add_from(run *r, const char *path) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    char line[1024];
    if (!file) {
        complain(r, path, strerror(errno));
        return;
    }
    while (fgets(line, sizeof line, file)) add_line(r, line);
    if (file != stdin) fclose(file);
}

/* Each a little later than the one before, so that they share the interval evenly. */
static int start_all(run *r) {
    uint64_t now_ns = cping_now();
    uint64_t interval_ns = r->options.target.interval_ns ? r->options.target.interval_ns : 100000000;
    for (size_t i = 0; i < r->count; i++) {
        int error = cping_start(r->pinger, r->subjects[i]->id, now_ns + interval_ns / r->count * i);
        if (error) return error;
    }
    return 0;
}

/* ---- Events ---- */

static subject *find(const run *r, int64_t id) {
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->subjects[middle]->id < id) low = middle + 1;
        else high = middle;
    }
    return low < r->count && r->subjects[low]->id == id ? r->subjects[low] : NULL;
}

static void take(run *r, const cping_event *event) {
    subject *s = find(r, event->target);
    if (!s) return;
    int was_done = s->is_done;
    subject_note(s, event);
    r->done += (size_t)(s->is_done && !was_done);
    report_event(&r->options, s, event);
}

static void read_all(run *r) {
    cping_event events[16];
    size_t count;
    while ((count = cping_read(r->pinger, events, 16)) > 0) {
        for (size_t i = 0; i < count; i++) take(r, &events[i]);
    }
}

static void summarise(const run *r, cping *pinger) {
    for (size_t i = 0; i < r->count; i++) report_summary(&r->options, r->subjects[i], pinger);
    fflush(stdout);
}

static int milliseconds_until(uint64_t time_ns) {
    if (time_ns == 0) return -1;
    uint64_t now_ns = cping_now();
    if (now_ns >= time_ns) return 0;
    uint64_t left_ms = (time_ns - now_ns + 999999) / 1000000;
    return left_ms < 3600000 ? (int)left_ms : 3600000;
}

/* Until all targets are done, the time is up (0: never) or a signal ends it. */
static void work_until(run *r, uint64_t end_ns, int is_lingering) {
    while (!is_ending && (is_lingering || r->done < r->count)) {
        int left_ms = milliseconds_until(end_ns);
        if (left_ms == 0) return;
        if (cping_wait(r->pinger, left_ms) < 0) return;
        read_all(r);
        if (wants_summary) {
            wants_summary = 0;
            summarise(r, r->pinger);
        }
        /* Lines appear as things happen, and no reader is asked for each of a flood. */
        if (!(r->options.target.flags & CPING_TARGET_FLOOD)) fflush(stdout);
    }
}

static void work(run *r) {
    uint64_t now_ns = cping_now();
    uint64_t deadline_ns = r->options.deadline_ns ? now_ns + r->options.deadline_ns : 0;
    work_until(r, deadline_ns, 0);
    if (r->done == r->count && r->options.linger_ns) work_until(r, cping_now() + r->options.linger_ns, 1);
    /* What is under way is cancelled, and said to be. */
    cping_shutdown(r->pinger);
    while (cping_wait(r->pinger, 0) > 0) read_all(r);
}

/* ---- The program ---- */

static int answered_all(const run *r) {
    for (size_t i = 0; i < r->count; i++) {
        if (r->subjects[i]->answered == 0) return 0;
    }
    return r->failures == 0;
}

static int open_all(run *r) {
    cping_options settings = {.flags = CPING_OPTION_THREADLESS | r->options.pinger_flags,
                              .remembered = r->options.remembered};
    int error = cping_create(&settings, &r->pinger);
    if (error) {
        fprintf(stderr, "cping: %s\n", cping_explain(error));
        return -1;
    }
    for (size_t i = 0; i < r->options.name_count; i++) add(r, r->options.names[i]);
    if (r->options.file) add_from(r, r->options.file);
    unsigned keep = r->options.target.interface_name[0] || r->options.target.mark ? CPING_KEEP_RECOVERY : 0;
    cping_drop_privileges(r->pinger, keep);
    if (r->count == 0 && r->failures == 0) fprintf(stderr, "cping: there is no target\n");
    return r->count ? start_all(r) : -1;
}

static void close_all(run *r) {
    cping_destroy(r->pinger);
    for (size_t i = 0; i < r->count; i++) {
        subject_clear(r->subjects[i]);
        free(r->subjects[i]);
    }
    free(r->subjects);
}

/* Tables of which little is used take only the pages that are: glibc would clear them in its heap. */
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
        catch_signals(r.pinger);
        work(&r);
        summarise(&r, NULL);
        status = answered_all(&r) ? EXIT_ANSWERED : EXIT_UNANSWERED;
    }
    close_all(&r);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "cping: standard output: %s\n", strerror(errno));
        status = EXIT_CANNOT;
    }
    return status;
}
