/* Sends and receives batches of datagrams, and reads the error queue. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>  /* before errqueue.h, which needs it */
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "channel.h"

#ifndef SCM_TS_OPT_ID
#define SCM_TS_OPT_ID 81
#endif

enum { AREA = 64 << 10, GIANT = 66000, QUOTE = 128, CONTROL = 192 };

union control {
    char bytes[CONTROL];
    struct cmsghdr aligned;
};

struct cping__batch {
    struct mmsghdr messages[CPING__HAUL];
    struct iovec parts[CPING__HAUL];
    struct sockaddr_in6 addresses[CPING__HAUL];
    union control controls[CPING__HAUL];
    cping__datagram datagrams[CPING__HAUL];
    cping__notice notices[CPING__HAUL];
    uint8_t quotes[CPING__HAUL][QUOTE];
    uint8_t area[GIANT];
};

cping__batch *cping__batch_create(void) {
    return calloc(1, sizeof(cping__batch));
}

void cping__batch_destroy(cping__batch *batch) {
    free(batch);
}

/* ---- Out ---- */

static void number_message(struct msghdr *message, union control *control, uint32_t number) {
    message->msg_control = control->bytes;
    message->msg_controllen = CMSG_SPACE(sizeof number);
    struct cmsghdr *c = CMSG_FIRSTHDR(message);
    *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_TS_OPT_ID, .cmsg_len = CMSG_LEN(sizeof number)};
    memcpy(CMSG_DATA(c), &number, sizeof number);
}

static void remember_number(cping__channel *channel, uint32_t sequence) {
    if (!channel->sent) channel->sent = calloc(CPING__STAMP_WINDOW, sizeof *channel->sent);
    if (!channel->sent) return;
    uint32_t number = channel->next_number++;
    channel->sent[number % CPING__STAMP_WINDOW] =
        (struct cping__numbered){.number = number, .sequence = sequence, .used = 1};
}

static void restart_numbers(cping__channel *channel) {
    cping__stamps_enable(channel->fd);
    if (channel->sent) memset(channel->sent, 0, CPING__STAMP_WINDOW * sizeof *channel->sent);
    channel->next_number = 0;
}

static size_t send_batch(cping__channel *channel, cping__batch *batch, const cping__outgoing *packets, size_t count,
                         int *error) {
    for (size_t i = 0; i < count; i++) {
        struct msghdr *message = &batch->messages[i].msg_hdr;
        batch->parts[i] = (struct iovec){(void *)packets[i].packet, packets[i].length};
        *message = (struct msghdr){.msg_name = (void *)&packets[i].to, .msg_namelen = packets[i].to_length,
                                   .msg_iov = &batch->parts[i], .msg_iovlen = 1};
        if (channel->numbers_itself) number_message(message, &batch->controls[i], packets[i].sequence);
    }
    *error = 0;
    int sent = sendmmsg(channel->fd, batch->messages, (unsigned)count, 0);
    if (sent >= 0) return (size_t)sent;
    *error = -errno;
    return 0;
}

/* EINVAL can be about the control message, which older kernels do not know, or about the packet. Sending the packet without the message
 * shows which. */
static size_t try_without_number(cping__channel *channel, cping__batch *batch, const cping__outgoing *packet, int *error) {
    channel->numbers_itself = 0;
    restart_numbers(channel);
    if (send_batch(channel, batch, packet, 1, error) == 1) return 1;
    channel->numbers_itself = 1;
    return 0;
}

size_t cping__channel_send(cping__channel *channel, cping__batch *batch, const cping__outgoing *packets, size_t count,
                           int *error) {
    size_t sent = 0;
    while (sent < count) {
        int itself = channel->numbers_itself;
        size_t now = send_batch(channel, batch, packets + sent, count - sent, error);
        if (now == 0 && itself && *error == -EINVAL) now = try_without_number(channel, batch, packets + sent, error);
        if (!channel->numbers_itself) {
            for (size_t i = 0; i < now; i++) remember_number(channel, packets[sent + i].sequence);
            /* Whether a failed datagram got a number depends on where in the kernel it failed: begin again. */
            if (now == 0) restart_numbers(channel);
        }
        if (now == 0) break;
        sent += now;
    }
    return sent;
}

/* ---- In ---- */

static size_t receive_batch(cping__channel *channel, cping__batch *batch, size_t count, size_t size, uint8_t *area,
                            int flags) {
    for (size_t i = 0; i < count; i++) {
        batch->parts[i] = (struct iovec){area + i * size, size};
        batch->messages[i].msg_hdr = (struct msghdr){
            .msg_name = &batch->addresses[i], .msg_namelen = sizeof batch->addresses[i], .msg_iov = &batch->parts[i],
            .msg_iovlen = 1, .msg_control = batch->controls[i].bytes, .msg_controllen = CONTROL};
    }
    /* An ICMP error makes one call fail as well; it is handled where it is read from the error queue. */
    for (int attempt = 0; attempt < 4; attempt++) {
        int received = recvmmsg(channel->fd, batch->messages, (unsigned)count, MSG_DONTWAIT | flags, NULL);
        if (received >= 0) return (size_t)received;
        if (errno == EAGAIN || errno == EBADF) return 0;
    }
    return 0;
}

/* TTL or hop limit of a datagram; 0 where the socket does not report it. */
static uint8_t ttl_of(struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        int is_ttl = (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL) ||
                     (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_HOPLIMIT);
        int ttl;
        if (!is_ttl || c->cmsg_len < CMSG_LEN(sizeof ttl)) continue;
        memcpy(&ttl, CMSG_DATA(c), sizeof ttl);
        return ttl > 0 && ttl < 256 ? (uint8_t)ttl : 0;
    }
    return 0;
}

size_t cping__channel_receive(cping__channel *channel, cping__batch *batch, const cping__datagram **datagrams, int *more) {
    /* Room for the expected reply and an IP header with all options. */
    size_t needed = channel->largest + 64;
    size_t size = needed <= 256 ? 256 : needed <= 2048 ? 2048 : GIANT;
    size_t count = AREA / size < CPING__HAUL ? AREA / size : CPING__HAUL;
    if (count == 0) count = 1;
    size_t received = receive_batch(channel, batch, count, size, batch->area, 0);
    *more = received == count;
    if (received == 0) return 0;
    cping__reading clocks = cping__read_clocks();
    for (size_t i = 0; i < received; i++) {
        struct msghdr *message = &batch->messages[i].msg_hdr;
        batch->datagrams[i] = (cping__datagram){
            .bytes = batch->area + i * size, .length = batch->messages[i].msg_len,
            .cut = (message->msg_flags & MSG_TRUNC) != 0,
            .ttl = channel->key.flags & CPING_TARGET_REPORT_TTL ? ttl_of(message) : 0,
            .from = cping__address_from_socket((struct sockaddr *)&batch->addresses[i]),
            .at = {.clocks = clocks, .kernel_ns = cping__stamps_find(message)}};
        /* Without a name there is no sender. */
        if (message->msg_namelen == 0) batch->datagrams[i].from.family = 0;
    }
    *datagrams = batch->datagrams;
    return received;
}

static int sequence_of(const cping__channel *channel, uint32_t number, uint32_t *sequence) {
    *sequence = number;
    if (channel->numbers_itself) return 1;
    const struct cping__numbered *sent = channel->sent ? &channel->sent[number % CPING__STAMP_WINDOW] : NULL;
    if (!sent || !sent->used || sent->number != number) return 0;
    *sequence = sent->sequence;
    return 1;
}

static void read_error(cping__channel *channel, struct cmsghdr *c, struct msghdr *message, cping__notice *notice) {
    struct {
        struct sock_extended_err error;
        union {
            struct sockaddr any;
            struct sockaddr_in6 in6;
        } offender;
    } report = {0};
    size_t length = c->cmsg_len - CMSG_LEN(0);
    memcpy(&report, CMSG_DATA(c), length < sizeof report ? length : sizeof report);
    const struct sock_extended_err *error = &report.error;
    if (error->ee_origin == SO_EE_ORIGIN_TIMESTAMPING) {
        if (error->ee_info != SCM_TSTAMP_SND || !sequence_of(channel, error->ee_data, &notice->sequence)) return;
        notice->kind = CPING__NOTICE_STAMP;
        notice->stamp_ns = cping__stamps_find(message);
    } else if (error->ee_origin == SO_EE_ORIGIN_ICMP || error->ee_origin == SO_EE_ORIGIN_ICMP6) {
        notice->kind = CPING__NOTICE_ICMP;
        notice->error = (int)error->ee_errno;
        notice->icmp_type = error->ee_type;
        notice->icmp_code = error->ee_code;
        int is_too_big = error->ee_origin == SO_EE_ORIGIN_ICMP ? error->ee_type == 3 && error->ee_code == 4 : error->ee_type == 2;
        notice->mtu = is_too_big ? error->ee_info : 0;
        notice->destination = cping__address_from_socket(message->msg_name);
        notice->reporter = cping__address_from_socket(&report.offender.any);
        notice->reporter.port = 0;
    } else if (error->ee_origin == SO_EE_ORIGIN_LOCAL && error->ee_errno == EMSGSIZE) {
        channel->mtu = error->ee_info;
    }
}

size_t cping__channel_notices(cping__channel *channel, cping__batch *batch, const cping__notice **notices, int *more) {
    size_t received = receive_batch(channel, batch, CPING__HAUL, QUOTE, batch->quotes[0], MSG_ERRQUEUE);
    *more = received == CPING__HAUL;
    for (size_t i = 0; i < received; i++) {
        struct msghdr *message = &batch->messages[i].msg_hdr;
        batch->notices[i] = (cping__notice){.quote = batch->quotes[i], .quote_length = batch->messages[i].msg_len};
        for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
            int is_error = (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
                           (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR);
            if (is_error) read_error(channel, c, message, &batch->notices[i]);
        }
    }
    *notices = batch->notices;
    return received;
}
