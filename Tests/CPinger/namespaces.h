/* Network namespaces of a test: they vanish with its processes. The test is the client; children hold the others. */
#ifndef NAMESPACES_H
#define NAMESPACES_H

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* Runs a command; fails the test if it fails. */
static inline void run_command(const char *format, ...) {
    char command[512];
    va_list list;
    va_start(list, format);
    vsnprintf(command, sizeof command, format, list);
    va_end(list);
    if (system(command) == 0) return;
    fprintf(stderr, "failed: %s\n", command);
    exit(1);
}

/* Runs `body` in a child, for steps that cannot be undone. */
static inline void in_process(void (*body)(void)) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        body();
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static inline void enter_new_namespace(void) {
    if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0) skip("a network namespace needs root");
    if (system("ip -V >/dev/null 2>&1 && nsenter -V >/dev/null 2>&1") != 0) skip("needs ip (iproute2) and nsenter");
    run_command("ip link set lo up; sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.all.accept_dad=0");
}

/* A process that only holds a namespace. */
static inline pid_t hold_namespace(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t holder = fork();
    CHECK(holder >= 0);
    if (holder == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWNET) != 0 || write(ends[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    /* Without DAD an address can be used at once. */
    run_command("nsenter -t %d -n sh -c 'ip link set lo up; sysctl -qw net.ipv6.conf.default.accept_dad=0 "
                "net.ipv6.conf.all.accept_dad=0'", holder);
    return holder;
}

static inline void release_namespace(pid_t holder) {
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
}

/* Pings until there is an answer: a fresh link loses the first solicitation, and a route needs a moment. */
static inline void await_answer(const char *address) {
    cping *pinger;
    cping_event event = {0};
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .interval_ns = 50000000};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, 0), 0);
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    while (event.kind != CPING_ANSWERED) {
        CHECK_EQUAL(cping_wait(pinger, 10000), 1);
        CHECK_EQUAL(cping_read(pinger, &event, 1), 1);
    }
    cping_destroy(pinger);
}

static inline void switch_namespace(int fd) {
    CHECK(setns(fd, CLONE_NEWNET) == 0);
}

static inline int open_namespace(pid_t process) {
    char path[64];
    if (process) snprintf(path, sizeof path, "/proc/%d/ns/net", process);
    else snprintf(path, sizeof path, "/proc/self/ns/net");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

#endif
