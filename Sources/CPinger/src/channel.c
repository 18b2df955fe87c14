#define _GNU_SOURCE
#include "channel.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "address.h"
#include "filter.h"

cping__channel_key cping__channel_key_of(const cping_target *target) {
    cping__channel_key key;
    memset(&key, 0, sizeof key);
    key.protocol = target->protocol;
    key.socket = target->socket;
    key.flags = target->flags & (CPING_TARGET_DONT_FRAGMENT | CPING_TARGET_ICMP_ID | CPING_TARGET_AWAIT |
                                 CPING_TARGET_REPORT_TTL);
    key.mark = target->mark;
    key.icmp_id = target->flags & CPING_TARGET_ICMP_ID ? target->icmp_id : 0;
    key.family = target->destination.family;
    key.ttl = target->ttl;
    key.traffic_class = target->traffic_class;
    memcpy(key.interface_name, target->interface_name, strlen(target->interface_name));
    if (target->source.family) {
        memcpy(key.source.bytes, target->source.bytes, sizeof key.source.bytes);
        key.source.scope_id = target->source.scope_id;
        key.source.family = target->source.family;
    }
    return key;
}

int cping__channel_suits(const cping__channel *channel, const cping__channel_key *key) {
    if (memcmp(&channel->key, key, sizeof *key) == 0) return 1;
    /* A target without a preferred kind of socket uses the existing one. */
    cping__channel_key same = *key;
    same.socket = channel->key.socket;
    return (key->socket == CPING_SOCKET_AUTO || key->socket == channel->kind) &&
           memcmp(&channel->key, &same, sizeof same) == 0;
}

static int open_socket(const cping__channel *channel) {
    int is_icmp = channel->key.protocol == CPING_ICMP;
    int domain = channel->key.family == 4 ? AF_INET : AF_INET6;
    int type = (channel->kind == CPING_SOCKET_RAW ? SOCK_RAW : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int icmp = channel->key.family == 4 ? (int)IPPROTO_ICMP : (int)IPPROTO_ICMPV6;
    int fd = socket(domain, type, is_icmp ? icmp : IPPROTO_UDP);
    if (fd >= 0) return fd;
    return is_icmp && errno == EPERM ? -EACCES : -errno;
}

/* Datagram ICMP sockets come first: they need no privilege where ping_group_range has our group, and the kernel matches
 * their replies. */
static int open_any(cping__channel *channel) {
    channel->kind = channel->key.socket == CPING_SOCKET_RAW ? CPING_SOCKET_RAW : CPING_SOCKET_DATAGRAM;
    int fd = open_socket(channel);
    int try_raw = channel->key.protocol == CPING_ICMP && channel->key.socket == CPING_SOCKET_AUTO;
    if (!try_raw || (fd != -EACCES && fd != -EPROTONOSUPPORT)) return fd;
    channel->kind = CPING_SOCKET_RAW;
    return open_socket(channel);
}

static int set(int fd, int level, int option, int value) {
    return setsockopt(fd, level, option, &value, sizeof value) == 0 ? 0 : -errno;
}

uint32_t cping__channel_interface_index(const cping__channel *channel, const char *name) {
    struct ifreq request = {0};
    memcpy(request.ifr_name, name, strnlen(name, IFNAMSIZ - 1));
    return ioctl(channel->fd, SIOCGIFINDEX, &request) == 0 ? (uint32_t)request.ifr_ifindex : 0;
}

void cping__channel_interface_name(const cping__channel *channel, uint32_t index, char name[16]) {
    struct ifreq request = {.ifr_ifindex = (int)index};
    memset(name, 0, 16);
    if (ioctl(channel->fd, SIOCGIFNAME, &request) == 0) memcpy(name, request.ifr_name, strnlen(request.ifr_name, 15));
}

/* The interface that the socket lives and dies with; "": none. */
static const char *home_of(const cping__channel *channel) {
    return channel->key.interface_name[0] ? channel->key.interface_name : channel->source_scope;
}

int cping__channel_is_bound(const cping__channel *channel) {
    return home_of(channel)[0] != 0;
}

static int bind_to_interface(cping__channel *channel) {
    const char *name = home_of(channel);
    if (name[0] == 0) return 0;
    channel->interface_index = cping__channel_interface_index(channel, name);
    if (channel->interface_index == 0) return -ENODEV;
    /* A link-local source binds to its interface by itself. */
    if (channel->key.interface_name[0] == 0) return 0;
    return setsockopt(channel->fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)) == 0 ? 0 : -errno;
}

static int set_options4(const cping__channel *channel) {
    const cping__channel_key *key = &channel->key;
    int error = set(channel->fd, IPPROTO_IP, IP_RECVERR, 1);
    if (error == 0 && key->ttl) error = set(channel->fd, IPPROTO_IP, IP_TTL, key->ttl);
    if (error == 0 && key->traffic_class) error = set(channel->fd, IPPROTO_IP, IP_TOS, key->traffic_class);
    if (error == 0 && key->flags & CPING_TARGET_DONT_FRAGMENT) {
        error = set(channel->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
    }
    if (key->flags & CPING_TARGET_AWAIT) set(channel->fd, IPPROTO_IP, IP_FREEBIND, 1);
    if (key->flags & CPING_TARGET_REPORT_TTL) set(channel->fd, IPPROTO_IP, IP_RECVTTL, 1);
    return error;
}

static int set_options6(const cping__channel *channel) {
    const cping__channel_key *key = &channel->key;
    set(channel->fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    int error = set(channel->fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
    if (error == 0 && key->ttl) error = set(channel->fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, key->ttl);
    if (error == 0 && key->traffic_class) error = set(channel->fd, IPPROTO_IPV6, IPV6_TCLASS, key->traffic_class);
    if (error == 0 && key->flags & CPING_TARGET_DONT_FRAGMENT) {
        error = set(channel->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
        if (error == 0) error = set(channel->fd, IPPROTO_IPV6, IPV6_DONTFRAG, 1);
    }
    if (key->flags & CPING_TARGET_AWAIT) set(channel->fd, IPPROTO_IPV6, IPV6_FREEBIND, 1);
    if (key->flags & CPING_TARGET_REPORT_TTL) set(channel->fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
    return error;
}

/* Replies and stamps of a flood wait in the same buffer. More than net.core.rmem_max needs CAP_NET_ADMIN; without it, the
 * smaller buffer is sufficient. */
static void enlarge_buffers(int fd) {
    int size = 4 << 20;
    if (set(fd, SOL_SOCKET, SO_RCVBUFFORCE, size) != 0) set(fd, SOL_SOCKET, SO_RCVBUF, size);
}

/* The kernel charges a datagram with its own bookkeeping, however small it is. */
enum { LEAST_WEIGHT = 512 };

/* A small datagram in a driver's page weighs 2.5 KiB, its send stamp 1 KiB; a large one, twice its length at most. */
void cping__channel_expect(cping__channel *channel, size_t bytes) {
    if (bytes > channel->largest) channel->largest = bytes;
    int buffer = 0;
    socklen_t length = sizeof buffer;
    getsockopt(channel->fd, SOL_SOCKET, SO_RCVBUF, &buffer, &length);
    unsigned pings = (unsigned)((size_t)buffer / (4096 + 2 * channel->largest));
    channel->flood_limit = pings > 2 ? pings : 2;
    channel->most_queued = (size_t)buffer / LEAST_WEIGHT;
}

/* A port of our own from the start: UDP replies go there, and the kernel makes it the identifier of datagram ICMP. */
static int take_port(cping__channel *channel) {
    struct sockaddr_in6 local;
    cping_address wanted = channel->key.source;
    wanted.family = channel->key.family;
    if (channel->source_scope[0]) wanted.scope_id = cping__channel_interface_index(channel, channel->source_scope);
    /* A reopened socket keeps its port, if possible, so that replies under way reach it. */
    if (channel->kind == CPING_SOCKET_DATAGRAM) wanted.port = channel->local_port;
    socklen_t length = cping__address_to_socket(&wanted, &local);
    if (bind(channel->fd, (struct sockaddr *)&local, length) != 0) {
        if (channel->kind != CPING_SOCKET_DATAGRAM || wanted.port == 0 || errno != EADDRINUSE) return -errno;
        if (channel->key.flags & CPING_TARGET_ICMP_ID) return -errno;
        wanted.port = 0;
        length = cping__address_to_socket(&wanted, &local);
        if (bind(channel->fd, (struct sockaddr *)&local, length) != 0) return -errno;
    }
    if (channel->kind == CPING_SOCKET_RAW) return 0;
    length = sizeof local;
    if (getsockname(channel->fd, (struct sockaddr *)&local, &length) != 0) return -errno;
    channel->local_port = cping__address_from_socket((struct sockaddr *)&local).port;
    return 0;
}

static int prepare(cping__channel *channel) {
    channel->is_prepared = 0;
    int error = bind_to_interface(channel);
    if (error == -ENODEV && channel->key.flags & CPING_TARGET_AWAIT) {
        /* Fails closed: nothing is sent from a socket that is blocked. */
        channel->interface_index = 0;
        channel->blocked = error;
        error = 0;
    }
    if (error == 0) error = channel->key.family == 4 ? set_options4(channel) : set_options6(channel);
    if (error == 0 && channel->key.mark) error = set(channel->fd, SOL_SOCKET, SO_MARK, (int)channel->key.mark);
    if (error == 0 && channel->kind == CPING_SOCKET_RAW) {
        int wanted = channel->local_port || channel->key.flags & CPING_TARGET_ICMP_ID;
        error = cping__filter_echo_replies(channel->fd, channel->key.family, &channel->local_port, wanted);
    }
    if (error == 0 && (channel->kind == CPING_SOCKET_DATAGRAM || channel->key.source.family)) error = take_port(channel);
    if (error == 0) enlarge_buffers(channel->fd);
    if (error == 0) cping__stamps_enable(channel->fd);
    channel->is_prepared = error == 0;
    return error;
}

int cping__channel_open(const cping_target *target, cping__channel **opened) {
    cping__channel *channel = calloc(1, sizeof *channel);
    if (!channel) return -ENOMEM;
    channel->key = cping__channel_key_of(target);
    channel->local_port = channel->key.icmp_id;
    channel->numbers_itself = 1;
    TAILQ_INIT(&channel->flooders);
    channel->fd = open_any(channel);
    if (channel->fd >= 0 && channel->key.source.scope_id) {
        cping__channel_interface_name(channel, channel->key.source.scope_id, channel->source_scope);
    }
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
    free(channel->sent);
    free(channel);
}

/* Binding a bound socket to another index needs CAP_NET_RAW; a new socket does not, if it is no raw one. A half-prepared
 * socket is replaced, not bound again, and stays blocked until then. */
static int bind_anew(cping__channel *channel) {
    if (channel->is_prepared && channel->key.interface_name[0] && bind_to_interface(channel) == 0) return 0;
    int fd = open_socket(channel);
    if (fd < 0) return fd;
    close(channel->fd);
    channel->fd = fd;
    channel->next_number = 0;
    return prepare(channel);
}

int cping__channel_refresh(cping__channel *channel) {
    const char *name = home_of(channel);
    if (name[0] == 0) return 0;
    uint32_t index = cping__channel_interface_index(channel, name);
    if (index && index == channel->interface_index && channel->blocked == 0) return 0;
    int error = index ? bind_anew(channel) : -ENODEV;
    if (error) channel->interface_index = 0;
    channel->blocked = error ? error : channel->interface_index ? 0 : -ENODEV;
    /* Another interface may stamp, or not. */
    channel->stamps = CPING_STAMPS_UNTRIED;
    channel->missing_in_a_row = 0;
    return channel->blocked == 0;
}
