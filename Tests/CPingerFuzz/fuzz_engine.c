/* Matching of replies to pings. A pinger with a target of each protocol sends some pings into a network simulated by this file.
 * The input selects the datagrams and ICMP errors that follow: raw bytes, or replies and quotes made from the sent packets,
 * damaged or not, from the right source or another. An independent oracle decides which of them count. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <unistd.h>

#include "address.h"
#include "bytes.h"
#include "engine.h"
#include "fuzz.h"

enum { TARGETS = 6, PINGS = 3, SENT = TARGETS * PINGS, LARGEST = 256, IDENTIFIER = 0x1234 };

static const struct {
    const char *address;
    uint16_t port;
    enum cping_protocol protocol;
    enum cping_socket socket;
} plan[TARGETS] = {
    {"192.0.2.1", 4440, CPING_RTR, CPING_SOCKET_AUTO},         {"192.0.2.2", 0, CPING_ICMP, CPING_SOCKET_RAW},
    {"192.0.2.3", 0, CPING_ICMP, CPING_SOCKET_DATAGRAM},       {"2001:db8::1", 0, CPING_ICMP, CPING_SOCKET_RAW},
    {"2001:db8::2", 4440, CPING_ONEWAY, CPING_SOCKET_AUTO},   {"192.0.2.4", 7, CPING_UDP_ECHO, CPING_SOCKET_AUTO},
};

/* ---- The network ---- */

struct packet {
    uint8_t bytes[LARGEST];
    size_t length;
    cping_address to;
    int is_answered, has_verdict;
};

static struct packet sent[SENT];
static size_t sent_count;
static struct {
    uint8_t bytes[LARGEST];
    size_t length;
    cping_address from;
    struct sock_extended_err error;
    int is_there;
} incoming;

int __wrap_socket(int domain, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *length);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length);
ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout);
int __real_socket(int domain, int type, int protocol);

int __wrap_socket(int domain, int type, int protocol) {
    (void)protocol;
    if (domain == AF_NETLINK) {
        errno = EPERM;
        return -1;
    }
    /* Something epoll can watch, without privileges. */
    return __real_socket(AF_UNIX, SOCK_DGRAM | (type & (SOCK_NONBLOCK | SOCK_CLOEXEC)), 0);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length) {
    (void)fd, (void)address, (void)length;
    return 0;
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *length) {
    (void)fd;
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(IDENTIFIER)};
    memcpy(address, &local, *length < sizeof local ? *length : sizeof local);
    return 0;
}

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length) {
    (void)fd, (void)level, (void)option, (void)value, (void)length;
    return 0;
}

/* The same tokens in each run. */
ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags) {
    (void)flags;
    uint64_t state = 42;
    for (size_t i = 0; i < size; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        ((uint8_t *)buffer)[i] = (uint8_t)(state >> 56);
    }
    return (ssize_t)size;
}

int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags) {
    (void)fd, (void)flags;
    for (unsigned i = 0; i < count; i++) {
        const struct msghdr *message = &messages[i].msg_hdr;
        HOLDS(sent_count < SENT && message->msg_iov->iov_len <= LARGEST);
        struct packet *packet = &sent[sent_count++];
        *packet = (struct packet){.length = message->msg_iov->iov_len, .to = cping__address_from_socket(message->msg_name)};
        memcpy(packet->bytes, message->msg_iov->iov_base, packet->length);
    }
    return (int)count;
}

static void fill_error(struct msghdr *header) {
    int is_4 = incoming.from.family == 4;
    struct cmsghdr *c = CMSG_FIRSTHDR(header);
    *c = (struct cmsghdr){.cmsg_level = is_4 ? IPPROTO_IP : IPPROTO_IPV6, .cmsg_type = is_4 ? IP_RECVERR : IPV6_RECVERR,
                          .cmsg_len = CMSG_LEN(sizeof incoming.error)};
    memcpy(CMSG_DATA(c), &incoming.error, sizeof incoming.error);
    header->msg_controllen = CMSG_SPACE(sizeof incoming.error);
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    (void)fd, (void)count, (void)timeout;
    errno = EAGAIN;
    if (!incoming.is_there) return -1;
    incoming.is_there = 0;
    struct msghdr *header = &messages[0].msg_hdr;
    size_t room = header->msg_iov->iov_len, length = incoming.length < room ? incoming.length : room;
    memcpy(header->msg_iov->iov_base, incoming.bytes, length);
    messages[0].msg_len = (unsigned)length;
    header->msg_flags = length < incoming.length ? MSG_TRUNC : 0;
    header->msg_namelen = cping__address_to_socket(&incoming.from, header->msg_name);
    if (flags & MSG_ERRQUEUE) fill_error(header);
    else header->msg_controllen = 0;
    return 1;
}

/* ---- The oracle ---- */

static int index_of_target(const struct packet *packet) {
    return (int)(packet - sent) / PINGS;
}

static int is_from(const struct packet *packet) {
    return memcmp(&packet->to, &incoming.from, sizeof packet->to) == 0;
}

static int answers_rtr(const struct packet *packet) {
    const uint8_t *bytes = incoming.bytes;
    return incoming.length >= 8 && bytes[0] == 'R' && (bytes[1] == 'R' || bytes[1] == 'E') && bytes[2] == '0' &&
           bytes[3] == '1' && memcmp(bytes + 4, packet->bytes + 4, 4) == 0;
}

static uint32_t sum_of(const uint8_t *bytes, size_t length) {
    uint32_t sum = 0;
    for (size_t i = 0; i < length; i++) sum += i & 1 ? bytes[i] : (uint32_t)bytes[i] << 8;
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static int answers_echo(const struct packet *packet, int is_raw) {
    int is_4 = packet->to.family == 4;
    size_t header = is_4 && is_raw ? (size_t)(incoming.bytes[0] & 15) * 4 : 0;
    if (is_4 && is_raw && (incoming.length < 20 || incoming.bytes[0] >> 4 != 4 || header < 20)) return 0;
    const uint8_t *bytes = incoming.bytes + header;
    return incoming.length == header + packet->length && bytes[0] == (is_4 ? 0 : 129) && bytes[1] == 0 &&
           memcmp(bytes + 4, packet->bytes + 4, packet->length - 4) == 0 && (!is_4 || sum_of(bytes, packet->length) == 0xffff);
}

static int answers_oneway(const struct packet *packet) {
    uint32_t hash = 2166136261u;
    if (incoming.length != packet->length || memcmp(incoming.bytes, "CPR1", 4) != 0) return 0;
    for (size_t i = 0; i < incoming.length; i++) {
        if (i < 68 || i >= 72) hash = (hash ^ incoming.bytes[i]) * 16777619u;
    }
    return hash == cping__get32(incoming.bytes + 68) && memcmp(incoming.bytes + 4, packet->bytes + 4, 24) == 0;
}

static int answers_udpecho(const struct packet *packet) {
    return incoming.length == packet->length && memcmp(incoming.bytes, packet->bytes, packet->length) == 0;
}

static struct packet *answered_by_incoming(int target) {
    for (size_t i = 0; i < SENT; i++) {
        struct packet *packet = &sent[i];
        if (index_of_target(packet) != target || !is_from(packet)) continue;
        switch (plan[target].protocol) {
        case CPING_RTR: if (answers_rtr(packet)) return packet; break;
        case CPING_ICMP: if (answers_echo(packet, plan[target].socket == CPING_SOCKET_RAW)) return packet; break;
        case CPING_ONEWAY: if (answers_oneway(packet)) return packet; break;
        case CPING_UDP_ECHO: if (answers_udpecho(packet)) return packet; break;
        }
    }
    return NULL;
}

/* ---- Events ---- */

static struct packet *packet_of(const cping_event *event) {
    return &sent[(event->target - 1) * PINGS + (int64_t)event->slot];
}

static void note_verdict(const cping_event *event) {
    if (event->kind >= CPING_LATE) return;
    HOLDS(!packet_of(event)->has_verdict);
    packet_of(event)->has_verdict = 1;
}

static void check_reply_events(cping *pinger, int target) {
    struct packet *expected = answered_by_incoming(target);
    cping_event events[16];
    size_t count = cping_read(pinger, events, 16);
    int replies = 0;
    for (size_t i = 0; i < count; i++) {
        const cping_event *event = &events[i];
        /* An answer from another address gives no verdict. */
        if (event->kind == CPING_ELSEWHERE) continue;
        HOLDS(event->kind == CPING_ANSWERED || event->kind == CPING_REFUSED || event->kind == CPING_LATE ||
              event->kind == CPING_DUPLICATE || event->kind == CPING_CORRUPT || event->kind == CPING_FINISHED);
        note_verdict(event);
        if (event->kind == CPING_CORRUPT || event->kind == CPING_FINISHED) continue;
        HOLDS(expected && packet_of(event) == expected && event->rtt_ns >= 0);
        HOLDS((event->kind == CPING_DUPLICATE) == expected->is_answered);
        replies++;
    }
    HOLDS(replies == (expected != NULL));
    if (expected) expected->is_answered = 1;
}

static void check_error_events(cping *pinger, int is_failure) {
    cping_event events[16];
    size_t count = cping_read(pinger, events, 16);
    HOLDS(count <= 2);
    for (size_t i = 0; i < count; i++) {
        HOLDS(events[i].kind == (i == 0 ? CPING_ICMP_ERROR : CPING_FINISHED));
        note_verdict(&events[i]);
        if (i == 0) HOLDS(is_failure && is_from(packet_of(&events[0])));
    }
}

/* ---- The input ---- */

static void make_reply(const struct packet *packet, int target) {
    incoming.length = packet->length;
    memcpy(incoming.bytes, packet->bytes, packet->length);
    if (plan[target].protocol == CPING_RTR) {
        memcpy(incoming.bytes, "RR01", 4);
        incoming.length = 8;
    } else if (plan[target].protocol == CPING_ONEWAY) {
        memcpy(incoming.bytes, "CPR1", 4);
    } else if (plan[target].protocol == CPING_ICMP) {
        incoming.bytes[0] = packet->to.family == 4 ? 0 : 129;
    }
}

static void repair(int target) {
    uint8_t *bytes = incoming.bytes;
    size_t length = incoming.length;
    if (plan[target].protocol == CPING_ONEWAY && length >= 72) {
        uint32_t hash = 2166136261u;
        for (size_t i = 0; i < length; i++) hash = i < 68 || i >= 72 ? (hash ^ bytes[i]) * 16777619u : hash;
        cping__put32(bytes + 68, hash);
    } else if (plan[target].protocol == CPING_ICMP && length >= 8) {
        cping__put16(bytes + 2, 0);
        cping__put16(bytes + 2, (uint16_t)~sum_of(bytes, length));
    }
}

/* Like the datagrams of a raw IPv4 socket. */
static void put_ip_header(uint8_t options) {
    size_t header = 20 + (options & 3) * 4u;
    if (incoming.length + header > LARGEST) incoming.length = LARGEST - header;
    memmove(incoming.bytes + header, incoming.bytes, incoming.length);
    memset(incoming.bytes, 0, header);
    incoming.bytes[0] = (uint8_t)(0x40 | header / 4);
    incoming.length += header;
}

static void damage(feed *input) {
    for (uint8_t flips = feed_byte(input) & 3; flips; flips--) {
        uint8_t place = feed_byte(input);
        incoming.bytes[place] ^= feed_byte(input);
    }
    uint8_t cut = feed_byte(input);
    if (cut < incoming.length && cut & 1) incoming.length = cut;
}

enum { RAW_BYTES = 1, ELSEWHERE = 2, ERROR = 4, REPAIR = 8 };

static void choose_source(feed *input, const struct packet *packet, uint8_t mode) {
    incoming.from = packet->to;
    if (!(mode & ELSEWHERE)) return;
    uint8_t change = feed_byte(input);
    incoming.from.bytes[change & 3] ^= change >> 4;
    /* Raw and datagram ICMP have no ports. */
    if (change & 8 && incoming.from.port) incoming.from.port ^= 1;
}

static void make_incoming(feed *input, int target, uint8_t mode) {
    const struct packet *packet = &sent[target * PINGS + feed_byte(input) % PINGS];
    memset(&incoming, 0, sizeof incoming);
    incoming.is_there = 1;
    choose_source(input, packet, mode);
    if (mode & RAW_BYTES) {
        incoming.length = feed_byte(input);
        feed_bytes(input, incoming.bytes, incoming.length);
        return;
    }
    if (mode & ERROR) {
        incoming.length = packet->length;
        memcpy(incoming.bytes, packet->bytes, packet->length);
    } else {
        make_reply(packet, target);
    }
    damage(input);
    if (mode & REPAIR) repair(target);
    int is_raw_4 = plan[target].socket == CPING_SOCKET_RAW && packet->to.family == 4;
    if (!(mode & ERROR) && is_raw_4) put_ip_header(feed_byte(input));
}

static int make_error(feed *input) {
    int is_4 = incoming.from.family == 4;
    uint8_t type = feed_byte(input);
    incoming.error = (struct sock_extended_err){
        .ee_errno = EHOSTUNREACH, .ee_origin = is_4 ? SO_EE_ORIGIN_ICMP : SO_EE_ORIGIN_ICMP6, .ee_type = type,
        .ee_code = feed_byte(input)};
    return is_4 ? type == 3 || type == 11 || type == 12 : type < 128;
}

static void one_step(cping *pinger, cping__channel *const *channels, feed *input) {
    uint8_t mode = feed_byte(input);
    int target = (mode >> 4) % TARGETS;
    make_incoming(input, target, mode);
    if (mode & ERROR) {
        int is_failure = make_error(input);
        cping__read_notices(pinger, channels[target]);
        check_error_events(pinger, is_failure);
    } else {
        cping__read_datagrams(pinger, channels[target]);
        check_reply_events(pinger, target);
    }
}

/* ---- A run ---- */

static cping *set_up(cping__channel **channels) {
    cping *pinger;
    sent_count = 0;
    HOLDS(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS}, &pinger) == 0);
    for (int i = 0; i < TARGETS; i++) {
        cping_target target = {.protocol = plan[i].protocol, .socket = plan[i].socket, .count = PINGS,
                               .timeout_ns = UINT64_C(3600000000000), .flags = CPING_TARGET_FLOOD};
        HOLDS(cping_address_parse(&target.destination, plan[i].address, plan[i].port) == 0);
        HOLDS(cping_add(pinger, &target) == i + 1);
        HOLDS(cping_start(pinger, i + 1, 0) == 0);
        /* Each target sends before the next begins, so that the packets are in order. */
        HOLDS(cping_wait(pinger, 0) == 0 && sent_count == (size_t)(i + 1) * PINGS);
        channels[i] = pinger->targets[i]->channel;
    }
    return pinger;
}

static void tear_down(cping *pinger) {
    cping_event events[64];
    cping_shutdown(pinger);
    size_t count = cping_read(pinger, events, 64);
    for (size_t i = 0; i < count; i++) note_verdict(&events[i]);
    for (size_t i = 0; i < SENT; i++) HOLDS(sent[i].has_verdict);
    cping_destroy(pinger);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cping__channel *channels[TARGETS];
    feed input = {data, size};
    cping *pinger = set_up(channels);
    while (input.left) one_step(pinger, channels, &input);
    tear_down(pinger);
    return 0;
}
