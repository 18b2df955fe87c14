/* A wall clock for this program alone, which can be set without effect on the host: the kernel's stamps are shifted to it when they
 * are read. Linked with --wrap. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <linux/errqueue.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timex.h>

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __real_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_adjtime(clockid_t clock, struct timex *change);
int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout);

static _Atomic int64_t shift_ns;

static void add_shift(struct timespec *time) {
    int64_t ns = time->tv_sec * INT64_C(1000000000) + time->tv_nsec + shift_ns;
    *time = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    int status = __real_clock_gettime(clock, time);
    if (status == 0 && clock == CLOCK_REALTIME) add_shift(time);
    return status;
}

int __wrap_clock_adjtime(clockid_t clock, struct timex *change) {
    (void)clock;
    shift_ns += change->time.tv_sec * INT64_C(1000000000) + change->time.tv_usec;
    return 0;
}

static void shift_stamps(struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        struct scm_timestamping stamps;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPING) continue;
        memcpy(&stamps, CMSG_DATA(c), sizeof stamps);
        if (stamps.ts[0].tv_sec) add_shift(&stamps.ts[0]);
        memcpy(CMSG_DATA(c), &stamps, sizeof stamps);
    }
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    int received = __real_recvmmsg(fd, messages, count, flags, timeout);
    for (int i = 0; i < received; i++) shift_stamps(&messages[i].msg_hdr);
    return received;
}
