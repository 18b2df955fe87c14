#define _GNU_SOURCE
#include "resolver.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "worker.h"

enum { AT_A_TIME = 8 };
#define PATIENCE_NS UINT64_C(30000000000)

STAILQ_HEAD(questions, question);

/* A look-up under way. */
typedef struct errand {
    question *question;  /* NULL: none */
    pid_t child;
    int pipe;
    uint64_t until_ns;
} errand;

struct resolver {
    pthread_t thread;
    int wake_fd;
    pthread_mutex_t lock;
    struct questions waiting, answered;
    int is_ending;
    errand errands[AT_A_TIME];  /* of the thread */
};

/* ---- Of the thread ---- */

static void deliver(resolver *r, question *q) {
    struct worker *asker = q->asker;
    pthread_mutex_lock(&r->lock);
    STAILQ_INSERT_TAIL(&r->answered, q, link);
    pthread_mutex_unlock(&r->lock);
    worker_answered(asker);
}

static void begin(resolver *r, errand *e, question *q) {
    e->pipe = names_ask(q->name, q->family, &e->child);
    e->until_ns = cping_now() + PATIENCE_NS;
    if (e->pipe >= 0) {
        e->question = q;
        return;
    }
    q->answer = (answer){.error = EAI_SYSTEM};
    deliver(r, q);
}

static void finish(resolver *r, errand *e) {
    question *q = e->question;
    e->question = NULL;
    q->answer = names_read(e->pipe, e->child);
    deliver(r, q);
}

/* NULL: there is none, or the resolver is stopping. */
static question *next_question(resolver *r, int *is_ending) {
    pthread_mutex_lock(&r->lock);
    question *q = STAILQ_FIRST(&r->waiting);
    *is_ending = r->is_ending;
    if (*is_ending) q = NULL;
    if (q) STAILQ_REMOVE_HEAD(&r->waiting, link);
    pthread_mutex_unlock(&r->lock);
    return q;
}

/* Returns whether to go on. */
static int begin_errands(resolver *r) {
    int is_ending = 0;
    for (int i = 0; i < AT_A_TIME && !is_ending; i++) {
        question *q = r->errands[i].question ? NULL : next_question(r, &is_ending);
        if (q) begin(r, &r->errands[i], q);
    }
    return !is_ending;
}

static void wait_for_any(resolver *r) {
    struct pollfd ready[AT_A_TIME + 1];
    uint64_t now_ns = cping_now(), until_ns = UINT64_MAX;
    for (int i = 0; i < AT_A_TIME; i++) {
        const errand *e = &r->errands[i];
        ready[i] = (struct pollfd){.fd = e->question ? e->pipe : -1, .events = POLLIN};
        if (e->question && e->until_ns < until_ns) until_ns = e->until_ns;
    }
    ready[AT_A_TIME] = (struct pollfd){.fd = r->wake_fd, .events = POLLIN};
    uint64_t left_ms = until_ns > now_ns ? (until_ns - now_ns) / 1000000 + 1 : 0;
    if (poll(ready, AT_A_TIME + 1, until_ns == UINT64_MAX ? -1 : (int)left_ms) < 0) return;
    eventfd_t ignored;
    if (ready[AT_A_TIME].revents) eventfd_read(r->wake_fd, &ignored);
    now_ns = cping_now();
    for (int i = 0; i < AT_A_TIME; i++) {
        errand *e = &r->errands[i];
        if (!e->question) continue;
        if (now_ns >= e->until_ns) kill(e->child, SIGKILL);
        if (now_ns >= e->until_ns || ready[i].revents) finish(r, e);
    }
}

static void abandon(resolver *r) {
    for (int i = 0; i < AT_A_TIME; i++) {
        if (!r->errands[i].question) continue;
        kill(r->errands[i].child, SIGKILL);
        finish(r, &r->errands[i]);
    }
}

static void *run(void *argument) {
    resolver *r = argument;
    /* This thread needs neither the pingers' capabilities nor their priority. */
    cping_drop_privileges(NULL, 0);
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
    while (begin_errands(r)) wait_for_any(r);
    abandon(r);
    return NULL;
}

/* ---- Of the others ---- */

int resolver_start(resolver **started) {
    resolver *r = calloc(1, sizeof *r);
    if (!r) return -ENOMEM;
    STAILQ_INIT(&r->waiting);
    STAILQ_INIT(&r->answered);
    pthread_mutex_init(&r->lock, NULL);
    r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = r->wake_fd < 0 ? -errno : -pthread_create(&r->thread, NULL, run, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        *started = r;
        return 0;
    }
    if (r->wake_fd >= 0) close(r->wake_fd);
    pthread_mutex_destroy(&r->lock);
    free(r);
    return error;
}

static void forget(struct questions *list) {
    for (question *q; (q = STAILQ_FIRST(list));) {
        STAILQ_REMOVE_HEAD(list, link);
        free(q);
    }
}

void resolver_stop(resolver *r) {
    if (!r) return;
    pthread_mutex_lock(&r->lock);
    r->is_ending = 1;
    pthread_mutex_unlock(&r->lock);
    eventfd_write(r->wake_fd, 1);
    pthread_join(r->thread, NULL);
    forget(&r->waiting);
    forget(&r->answered);
    close(r->wake_fd);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

int resolver_ask(resolver *r, struct worker *asker, struct subject *subject, const char *name, int family) {
    question *q = calloc(1, sizeof *q);
    if (!q) return -ENOMEM;
    *q = (question){.asker = asker, .subject = subject, .name = name, .family = family};
    pthread_mutex_lock(&r->lock);
    STAILQ_INSERT_TAIL(&r->waiting, q, link);
    pthread_mutex_unlock(&r->lock);
    eventfd_write(r->wake_fd, 1);
    return 0;
}

question *resolver_answer(resolver *r, const struct worker *asker) {
    question *q;
    pthread_mutex_lock(&r->lock);
    STAILQ_FOREACH(q, &r->answered, link) {
        if (q->asker == asker) break;
    }
    if (q) STAILQ_REMOVE(&r->answered, q, question, link);
    pthread_mutex_unlock(&r->lock);
    return q;
}
