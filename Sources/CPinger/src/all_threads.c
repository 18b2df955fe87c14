/* The kernel has no call that drops the capabilities of all threads. A signal makes each thread drop its own. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capabilities.h"

enum { PATIENCE_MS = 2000, PAUSE_MS = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, cping__recoverer) recoverers = LIST_HEAD_INITIALIZER(recoverers);

void cping__recoverer_begin(cping__recoverer *recoverer) {
    recoverer->thread = gettid();
    pthread_mutex_lock(&lock);
    LIST_INSERT_HEAD(&recoverers, recoverer, link);
    pthread_mutex_unlock(&lock);
}

void cping__recoverer_end(cping__recoverer *recoverer) {
    if (recoverer->thread == 0) return;
    pthread_mutex_lock(&lock);
    LIST_REMOVE(recoverer, link);
    pthread_mutex_unlock(&lock);
    recoverer->thread = 0;
}

/* ---- In the other thread ---- */

/* The signal's value is the address of one of these: the capabilities that the thread keeps. A second signal can only remove more. */
static _Atomic uint64_t kept_by_most, kept_by_recoverers;
static struct sigaction before;

static void pass_on(int number, siginfo_t *info, void *context) {
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler == SIG_DFL) {
        signal(number, SIG_DFL);
        raise(number);
    } else if (before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    }
}

static void on_signal(int number, siginfo_t *info, void *context) {
    const _Atomic uint64_t *kept = info->si_value.sival_ptr;
    int is_ours = info->si_code == SI_QUEUE && (kept == &kept_by_most || kept == &kept_by_recoverers);
    int error = errno;
    if (is_ours) cping__capabilities_drop(*kept);
    else pass_on(number, info, context);
    errno = error;
}

/* ---- In the calling thread ---- */

/* For good: a thread that blocks the signal now must find the handler later. */
static int install_handler(void) {
    struct sigaction now, ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    if (sigaction(CPING__DROP_SIGNAL, NULL, &now) != 0) return -errno;
    if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_signal) return 0;
    before = now;
    return sigaction(CPING__DROP_SIGNAL, &ours, NULL) == 0 ? 0 : -errno;
}

static int is_recoverer(pid_t thread) {
    const cping__recoverer *recoverer;
    LIST_FOREACH(recoverer, &recoverers, link) {
        if (recoverer->thread == thread) return 1;
    }
    return 0;
}

static const _Atomic uint64_t *kept_by(pid_t thread) {
    return is_recoverer(thread) ? &kept_by_recoverers : &kept_by_most;
}

static void tell(pid_t thread) {
    siginfo_t info = {.si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)(uintptr_t)kept_by(thread);
    /* It may have ended in the meantime. */
    syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, CPING__DROP_SIGNAL, &info);
}

/* Whether a line of a status file says more than `kept`. */
static int says_more(const char *line, uint64_t kept) {
    unsigned long long set;
    if (sscanf(line, "CapInh: %llx", &set) == 1 || sscanf(line, "CapAmb: %llx", &set) == 1) return set != 0;
    if (sscanf(line, "CapPrm: %llx", &set) == 1 || sscanf(line, "CapEff: %llx", &set) == 1) return (set & ~kept) != 0;
    return strcmp(line, "NoNewPrivs:\t0\n") == 0;
}

/* A thread that has ended has no capabilities. */
static int has_more(pid_t thread, uint64_t kept) {
    char path[64], line[128];
    int more = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread);
    FILE *status = fopen(path, "re");
    if (!status) return errno != ENOENT;
    while (!more && fgets(line, sizeof line, status)) more = says_more(line, kept);
    fclose(status);
    return more;
}

/* Tells all that have too much. Returns their number, or a negative errno. */
static int tell_all(void) {
    DIR *threads = opendir("/proc/self/task");
    int count = 0;
    if (!threads) return -errno;
    for (const struct dirent *entry; (entry = readdir(threads));) {
        pid_t thread = atoi(entry->d_name);
        if (thread <= 0 || !has_more(thread, *kept_by(thread))) continue;
        tell(thread);
        count++;
    }
    closedir(threads);
    return count;
}

/* Two consecutive checks must find no capability too many, because a thread can start during the first one. */
static int drop_in_all(void) {
    int clean = 0;
    for (int i = 0; i < PATIENCE_MS / PAUSE_MS && clean < 2; i++) {
        int count = tell_all();
        if (count < 0) return count;
        clean = count ? 0 : clean + 1;
        if (count) nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
    return clean == 2 ? 0 : -EBUSY;
}

int cping_drop_process_privileges(unsigned keep) {
    if (keep & ~(unsigned)(CPING_KEEP_RECOVERY | CPING_KEEP_FILES)) return -EINVAL;
    pthread_mutex_lock(&lock);
    kept_by_most = cping__capabilities_kept(keep, 0);
    kept_by_recoverers = cping__capabilities_kept(keep, 1);
    int error = install_handler();
    int own = cping__capabilities_drop(*kept_by(gettid()));
    if (error == 0) error = own ? own : drop_in_all();
    pthread_mutex_unlock(&lock);
    return error;
}
