#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "listeners.h"
#include "options.h"
#include "responder.h"

/* Answers that wait for their delay; more than this many are dropped. */
enum { MAX_WAITING = 65536 };

struct waiting {
    STAILQ_ENTRY(waiting) link;
    int64_t due_ns;
    int fd;
    struct answer answer;
    uint8_t *bytes;  /* of a one-way answer and an echo: the request */
    struct sockaddr_storage to;
    socklen_t to_length;
    /* A control message with the address that was asked. */
    _Alignas(struct cmsghdr) uint8_t source[CMSG_SPACE(sizeof(struct in6_pktinfo))];
    size_t source_length;
};

struct program {
    struct options options;
    struct responder responder;
    struct listener listeners[MAX_LISTENERS];
    int signals;
    int64_t started_ns;
    STAILQ_HEAD(, waiting) queue;
    size_t queued;
};

static int64_t nanoseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void print_counters(const struct counters *c) {
    fprintf(stderr,
            "reflector: requests %ju malformed %ju expired %ju unknown-token %ju dead %ju dropped %ju ok %ju re01 %ju "
            "duplicates %ju wrong-sequence %ju short %ju unknown-magic %ju other-port %ju send-errors %ju one-way %ju echoes %ju "
            "echoes-withheld %ju\n",
            (uintmax_t)c->requests, (uintmax_t)c->malformed, (uintmax_t)c->expired, (uintmax_t)c->unknown_token,
            (uintmax_t)c->dead, (uintmax_t)c->dropped, (uintmax_t)c->ok, (uintmax_t)c->re01, (uintmax_t)c->duplicates,
            (uintmax_t)c->wrong_sequence, (uintmax_t)c->short_replies, (uintmax_t)c->unknown_magic,
            (uintmax_t)c->other_port, (uintmax_t)c->send_errors, (uintmax_t)c->oneway,
            (uintmax_t)c->echoes, (uintmax_t)c->echoes_withheld);
}

/* ---- Requests and answers ---- */

/* The answer leaves from the address that was asked; the kernel would choose one by the route, and clients take no answer from another. */
static ssize_t send_bytes(const struct waiting *w, const uint8_t *bytes) {
    struct iovec part = {(void *)(uintptr_t)bytes, w->answer.length};
    struct msghdr message = {.msg_name = (void *)(uintptr_t)&w->to, .msg_namelen = w->to_length, .msg_iov = &part, .msg_iovlen = 1};
    if (w->source_length > 0) {
        message.msg_control = (void *)(uintptr_t)w->source;
        message.msg_controllen = w->source_length;
    }
    return sendmsg(w->fd, &message, 0);
}

static ssize_t send_oneway(const struct waiting *w) {
    cping__oneway reply = w->answer.oneway;
    reply.sent = ++w->answer.session->sent;
    reply.send_ns = (uint64_t)nanoseconds(CLOCK_BOOTTIME);
    cping__oneway_make_reply(w->bytes, w->answer.length, &reply);
    return send_bytes(w, w->bytes);
}

static void send_answer(struct program *program, const struct waiting *w) {
    for (int i = 0; i < w->answer.copies; i++) {
        const uint8_t *bytes = w->answer.is_echo ? w->bytes : w->answer.bytes;
        if ((w->answer.is_oneway ? send_oneway(w) : send_bytes(w, bytes)) < 0) program->responder.counters.send_errors++;
    }
}

static struct waiting *copy_of(const struct waiting *w) {
    size_t extra = w->answer.is_oneway || w->answer.is_echo ? w->answer.length : 0;
    struct waiting *copy = malloc(sizeof *copy + extra);
    if (!copy) return NULL;
    *copy = *w;
    copy->bytes = (uint8_t *)(copy + 1);
    memcpy(copy->bytes, w->bytes, extra);
    return copy;
}

static void post(struct program *program, const struct waiting *w) {
    if (program->options.delay_ms == 0) {
        send_answer(program, w);
        return;
    }
    struct waiting *copy = program->queued < MAX_WAITING ? copy_of(w) : NULL;
    if (!copy) {
        program->responder.counters.send_errors++;
        return;
    }
    STAILQ_INSERT_TAIL(&program->queue, copy, link);
    program->queued++;
}

static void send_due(struct program *program) {
    int64_t now = nanoseconds(CLOCK_MONOTONIC);
    for (struct waiting *w; (w = STAILQ_FIRST(&program->queue)) && w->due_ns <= now;) {
        STAILQ_REMOVE_HEAD(&program->queue, link);
        program->queued--;
        send_answer(program, w);
        free(w);
    }
}

static void map_address(const struct sockaddr_storage *from, uint8_t address[16]) {
    if (from->ss_family == AF_INET6) {
        memcpy(address, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
        return;
    }
    memset(address, 0, 10);
    memset(address + 10, 0xff, 2);
    memcpy(address + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
}

static uint16_t port_of(const struct sockaddr_storage *from) {
    return ntohs(from->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)from)->sin6_port
                                             : ((const struct sockaddr_in *)from)->sin_port);
}

/* The kernel's receive stamp on CLOCK_BOOTTIME, which is never set; 0 without a stamp. */
static uint64_t stamp_of(struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec stamp;
        memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
        int64_t ahead = nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_BOOTTIME);
        return (uint64_t)((int64_t)stamp.tv_sec * 1000000000 + stamp.tv_nsec - ahead);
    }
    return 0;
}

static void put_source(struct waiting *w, const struct cmsghdr *received, const void *info, size_t size) {
    struct cmsghdr *header = (struct cmsghdr *)(void *)w->source;
    header->cmsg_level = received->cmsg_level;
    header->cmsg_type = received->cmsg_type;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), info, size);
    w->source_length = CMSG_SPACE(size);
}

static void keep_source(struct waiting *w, struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            info.ipi_ifindex = 0;  /* the route chooses the interface */
            put_source(w, c, &info, sizeof info);
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            if (IN6_IS_ADDR_MULTICAST(&info.ipi6_addr)) continue;  /* no source of an answer */
            if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) info.ipi6_ifindex = 0;
            put_source(w, c, &info, sizeof info);
        }
    }
}

static int serve_one(struct program *program, const struct listener *listener) {
    static uint8_t bytes[MAX_DATAGRAM];
    char control[256] __attribute__((aligned(8)));
    struct waiting w = {.bytes = bytes};
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_name = &w.to, .msg_namelen = sizeof w.to, .msg_iov = &part, .msg_iovlen = 1,
                             .msg_control = control, .msg_controllen = sizeof control};
    ssize_t length = recvmsg(listener->fd, &message, 0);
    if (length < 0) return 0;
    int64_t now = nanoseconds(CLOCK_MONOTONIC);
    w.to_length = message.msg_namelen;
    keep_source(&w, &message);
    struct request request = {.bytes = bytes, .length = (size_t)length, .now = (int64_t)time(NULL),
                              .elapsed = (double)(now - program->started_ns) / 1e9, .receive_ns = stamp_of(&message)};
    request.is_kernel_stamp = request.receive_ns != 0;
    if (!request.is_kernel_stamp) request.receive_ns = (uint64_t)nanoseconds(CLOCK_BOOTTIME);
    map_address(&w.to, request.address);
    request.port = port_of(&w.to);
    request.local_port = listener->port;
    w.answer = responder_answer(&program->responder, &request);
    if (w.answer.length == 0) return 1;
    w.fd = w.answer.other_port ? listener->other_fd : listener->fd;
    w.due_ns = now + (int64_t)(program->options.delay_ms * 1e6);
    post(program, &w);
    return 1;
}

/* ---- The loop ---- */

static int open_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Returns 0 when it is time to end. */
static int handle_signals(struct program *program) {
    struct signalfd_siginfo info;
    while (read(program->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM) return 0;
        if (info.ssi_signo == SIGUSR1 && program->options.re01_once) program->responder.re01_armed = 1;
        if (info.ssi_signo == SIGUSR2) print_counters(&program->responder.counters);
    }
    return 1;
}

static void wait_for_work(struct program *program, struct pollfd *fds, nfds_t count) {
    const struct waiting *first = STAILQ_FIRST(&program->queue);
    int64_t left = first ? first->due_ns - nanoseconds(CLOCK_MONOTONIC) : 0;
    if (left < 0) left = 0;
    struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    ppoll(fds, count, first ? &timeout : NULL, NULL);
}

static void run(struct program *program) {
    size_t count = program->options.listen_count;
    struct pollfd fds[MAX_LISTENERS + 1] = {{.fd = program->signals, .events = POLLIN}};
    for (size_t i = 0; i < count; i++) fds[i + 1] = (struct pollfd){.fd = program->listeners[i].fd, .events = POLLIN};
    do {
        wait_for_work(program, fds, count + 1);
        send_due(program);
        for (size_t i = 0; i < count; i++) {
            for (int n = 0; n < 256 && serve_one(program, &program->listeners[i]); n++) {}
        }
    } while (handle_signals(program));
}

int main(int argc, char **argv) {
    static struct program program;
    options_read(&program.options, argc, argv);
    responder_init(&program.responder, &program.options);
    STAILQ_INIT(&program.queue);
    program.signals = open_signals();
    program.started_ns = nanoseconds(CLOCK_MONOTONIC);
    listeners_open(program.listeners, &program.options);
    run(&program);
    print_counters(&program.responder.counters);
    for (struct waiting *w; (w = STAILQ_FIRST(&program.queue));) {
        STAILQ_REMOVE_HEAD(&program.queue, link);
        free(w);
    }
    listeners_close(program.listeners, program.options.listen_count);
    return 0;
}
