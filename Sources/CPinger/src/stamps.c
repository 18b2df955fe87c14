#define _GNU_SOURCE
#include "stamps.h"

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <string.h>
#include <time.h>

#include "cpinger.h"

static uint64_t distance(int64_t a, int64_t b) {
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static int clock_was_set(const cping__reading *a, const cping__reading *b) {
    return distance(a->offset_ns, b->offset_ns) > a->width_ns + b->width_ns + CPING__MICROSECOND;
}

static int64_t wall(const cping__reading *clocks, uint64_t boot_ns) {
    return (int64_t)boot_ns + clocks->offset_ns;
}

static int64_t slack(const cping__reading *clocks) {
    return (int64_t)(clocks->width_ns + CPING__MICROSECOND);
}

static uint32_t objections(const cping__moment *sent, const cping__moment *received, int64_t bound_ns) {
    uint32_t flags = 0;
    if (sent->kernel_ns == 0) flags |= CPING_FLAG_NO_SEND_STAMP;
    if (received->kernel_ns == 0) flags |= CPING_FLAG_NO_RECEIVE_STAMP;
    if (clock_was_set(&sent->clocks, &received->clocks)) flags |= CPING_FLAG_CLOCK_STEP;
    if (flags) return flags;
    /* A stamp of another packet shows by lying before the sending or after the reading. */
    if (sent->kernel_ns < wall(&sent->clocks, sent->clocks.early_ns) - slack(&sent->clocks) ||
        received->kernel_ns > wall(&received->clocks, received->clocks.late_ns) + slack(&received->clocks)) {
        return CPING_FLAG_STAMPS_ABSURD;
    }
    int64_t rtt = received->kernel_ns - sent->kernel_ns;
    return rtt < 0 || rtt > bound_ns + (int64_t)CPING__MICROSECOND ? CPING_FLAG_STAMPS_ABSURD : 0;
}

cping__figure cping__measure(const cping__moment *sent, const cping__moment *received) {
    cping__figure figure = {0};
    figure.bound_ns = (int64_t)(received->clocks.early_ns - sent->clocks.late_ns);
    figure.flags = objections(sent, received, figure.bound_ns);
    if (figure.flags == 0) {
        figure.rtt_ns = received->kernel_ns - sent->kernel_ns;
        figure.stamp = CPING_STAMP_KERNEL;
    } else {
        figure.rtt_ns = figure.bound_ns;
        figure.stamp = CPING_STAMP_CLOCK;
    }
    return figure;
}

void cping__stamps_enable(int socket) {
    int flags = 0;
    /* The kernel restarts its numbers only when OPT_ID changes from off to on. */
    setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags);
    flags = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |
            SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
    setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags);
}

int64_t cping__boot_time(const cping__moment *moment, uint64_t otherwise_ns) {
    return moment->kernel_ns ? moment->kernel_ns - moment->clocks.offset_ns : (int64_t)otherwise_ns;
}

int64_t cping__stamps_find(struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPING) continue;
        struct scm_timestamping stamps;
        if (c->cmsg_len < CMSG_LEN(sizeof stamps)) continue;
        memcpy(&stamps, CMSG_DATA(c), sizeof stamps);
        return (int64_t)stamps.ts[0].tv_sec * (int64_t)CPING__SECOND + stamps.ts[0].tv_nsec;
    }
    return 0;
}
