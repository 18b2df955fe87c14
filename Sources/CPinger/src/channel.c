#define _GNU_SOURCE
#include "channel.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "filter.h"

static int domain(uint8_t family) {
    return family == 4 ? AF_INET : AF_INET6;
}

static int open_socket(enum cping_protocol protocol, enum cping_socket kind, uint8_t family) {
    int type = (kind == CPING_SOCKET_RAW ? SOCK_RAW : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int icmp = family == 4 ? (int)IPPROTO_ICMP : (int)IPPROTO_ICMPV6;
    int fd = socket(domain(family), type, protocol == CPING_ICMP ? icmp : IPPROTO_UDP);
    if (fd >= 0) return fd;
    return protocol == CPING_ICMP && errno == EPERM ? -EACCES : -errno;
}

/* Datagram ICMP sockets come first: they need no privilege where ping_group_range has our group, and the kernel matches
 * their replies. */
static int open_any(const cping_target *target, enum cping_socket *kind) {
    *kind = target->socket == CPING_SOCKET_RAW ? CPING_SOCKET_RAW : CPING_SOCKET_DATAGRAM;
    int fd = open_socket(target->protocol, *kind, target->destination.family);
    int try_raw = target->protocol == CPING_ICMP && target->socket == CPING_SOCKET_AUTO;
    if (!try_raw || (fd != -EACCES && fd != -EPROTONOSUPPORT)) return fd;
    *kind = CPING_SOCKET_RAW;
    return open_socket(target->protocol, *kind, target->destination.family);
}

static int bind_to_interface(int fd, const char *name) {
    if (name[0] == 0) return 0;
    return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)) == 0 ? 0 : -errno;
}

static int ask_for_errors(int fd, uint8_t family) {
    int on = 1;
    if (family == 4) return setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on) == 0 ? 0 : -errno;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    return setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on) == 0 ? 0 : -errno;
}

/* A port of our own from the start: RTR replies go there, and the kernel makes it the identifier of datagram ICMP. */
static int take_port(cping__channel *channel) {
    struct sockaddr_storage any;
    cping_address unspecified = {.family = channel->family};
    socklen_t length = cping__address_to_socket(&unspecified, &any);
    if (bind(channel->fd, (struct sockaddr *)&any, length) != 0) return -errno;
    length = sizeof any;
    if (getsockname(channel->fd, (struct sockaddr *)&any, &length) != 0) return -errno;
    channel->local_port = cping__address_from_socket((struct sockaddr *)&any).port;
    return 0;
}

static int prepare(cping__channel *channel) {
    int error = bind_to_interface(channel->fd, channel->interface_name);
    if (error == 0) error = ask_for_errors(channel->fd, channel->family);
    if (error == 0 && channel->kind == CPING_SOCKET_RAW) {
        error = cping__filter_echo_replies(channel->fd, channel->family, &channel->local_port);
    } else if (error == 0) {
        error = take_port(channel);
    }
    if (error == 0) cping__stamps_enable(channel->fd);
    return error;
}

int cping__channel_open(const cping_target *target, cping__channel **opened) {
    cping__channel *channel = calloc(1, sizeof *channel);
    if (!channel) return -ENOMEM;
    channel->protocol = target->protocol;
    channel->family = target->destination.family;
    memcpy(channel->interface_name, target->interface_name, sizeof channel->interface_name);
    channel->fd = open_any(target, &channel->kind);
    int error = channel->fd < 0 ? channel->fd : prepare(channel);
    if (error != 0) {
        cping__channel_close(channel);
        return error;
    }
    *opened = channel;
    return 0;
}

void cping__channel_close(cping__channel *channel) {
    if (channel->fd >= 0) close(channel->fd);
    free(channel);
}

int cping__channel_suits(const cping__channel *channel, const cping_target *target) {
    return channel->protocol == target->protocol && channel->family == target->destination.family &&
           (target->socket == CPING_SOCKET_AUTO || target->socket == channel->kind) &&
           strcmp(channel->interface_name, target->interface_name) == 0;
}

int cping__channel_send(cping__channel *channel, const cping_address *to, const void *packet, size_t length,
                        uint32_t sequence) {
    struct sockaddr_storage address;
    socklen_t address_length = cping__address_to_socket(to, &address);
    if (sendto(channel->fd, packet, length, 0, (struct sockaddr *)&address, address_length) < 0) {
        int error = -errno;
        /* Whether a failed datagram got a number depends on where in the kernel it failed: begin again. */
        cping__stamps_enable(channel->fd);
        memset(channel->sent, 0, sizeof channel->sent);
        channel->next_number = 0;
        return error;
    }
    uint32_t number = channel->next_number++;
    channel->sent[number % CPING__STAMP_WINDOW].number = number;
    channel->sent[number % CPING__STAMP_WINDOW].sequence = sequence;
    channel->sent[number % CPING__STAMP_WINDOW].used = 1;
    return 0;
}

int cping__channel_sequence(const cping__channel *channel, uint32_t number, uint32_t *sequence) {
    uint32_t place = number % CPING__STAMP_WINDOW;
    if (!channel->sent[place].used || channel->sent[place].number != number) return -1;
    *sequence = channel->sent[place].sequence;
    return 0;
}

int cping__channel_receive(cping__channel *channel, cping__datagram *datagram) {
    struct sockaddr_storage from;
    char control[256] __attribute__((aligned(8)));
    /* An ICMP error makes one call fail as well; it is handled where it is read from the error queue. */
    for (int attempt = 0; attempt < 4; attempt++) {
        struct iovec part = {datagram->bytes, sizeof datagram->bytes};
        struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1,
                                 .msg_control = control, .msg_controllen = sizeof control};
        ssize_t length = recvmsg(channel->fd, &message, MSG_DONTWAIT);
        if (length < 0 && (errno == EAGAIN || errno == EBADF)) return 0;
        if (length < 0) continue;
        datagram->at.clocks = cping__read_clocks();
        datagram->at.kernel_ns = cping__stamps_find(&message);
        datagram->length = (size_t)length;
        datagram->from = cping__address_from_socket((struct sockaddr *)&from);
        return 1;
    }
    return 0;
}

static void read_error(const struct sock_extended_err *error, struct msghdr *message, cping__notice *notice) {
    switch (error->ee_origin) {
    case SO_EE_ORIGIN_TIMESTAMPING:
        if (error->ee_info != SCM_TSTAMP_SND) return;
        notice->kind = CPING__NOTICE_STAMP;
        notice->number = error->ee_data;
        notice->stamp_ns = cping__stamps_find(message);
        return;
    case SO_EE_ORIGIN_ICMP:
    case SO_EE_ORIGIN_ICMP6:
        notice->kind = CPING__NOTICE_ICMP;
        notice->error = (int)error->ee_errno;
        notice->icmp_type = error->ee_type;
        notice->icmp_code = error->ee_code;
        notice->destination = cping__address_from_socket(message->msg_name);
        notice->reporter = cping__address_from_socket(SO_EE_OFFENDER(error));
        notice->reporter.port = 0;
        return;
    default:
        return;
    }
}

int cping__channel_notice(cping__channel *channel, cping__notice *notice) {
    struct sockaddr_storage destination = {0};
    char control[512] __attribute__((aligned(8)));
    struct iovec part = {notice->quote, sizeof notice->quote};
    struct msghdr message = {.msg_name = &destination, .msg_namelen = sizeof destination, .msg_iov = &part,
                             .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t length = recvmsg(channel->fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (length < 0) return 0;
    notice->kind = CPING__NOTICE_NONE;
    notice->quote_length = (size_t)length;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        int is_error = (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
                       (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR);
        if (is_error) read_error((struct sock_extended_err *)(void *)CMSG_DATA(c), &message, notice);
    }
    return 1;
}
