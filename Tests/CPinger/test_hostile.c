/* False replies: none becomes a sample. The test's own far side answers each ping in one hostile way. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>

#include "bytes.h"
#include "icmp.h"
#include "namespaces.h"
#include "oneway.h"

static unsigned kinds;

struct far {
    int socket, other_port, other_address, raw;  /* raw: writes whole IP packets */
    struct sockaddr_in from;
    uint8_t packet[65535];  /* the request */
    size_t length;
};

typedef void (*answer)(struct far *far, int variant);

static int udp_socket(const char *address) {
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(bind(fd, (struct sockaddr *)&local, sizeof local) == 0);
    return fd;
}

static uint16_t port_of(int fd) {
    struct sockaddr_in local;
    socklen_t length = sizeof local;
    CHECK(getsockname(fd, (struct sockaddr *)&local, &length) == 0);
    return ntohs(local.sin_port);
}

/* One ping, answered by `answer`. */
static struct outcome ping_once(struct far *far, const cping_target *target, answer answer, int variant, cping_stats *stats) {
    cping *pinger;
    struct outcome o = {0};
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    while (!o.finished) {
        struct pollfd ready[2] = {{.fd = far->socket, .events = POLLIN}, {.fd = cping_event_fd(pinger), .events = POLLIN}};
        poll(ready, 2, 1000);
        if (ready[0].revents) {
            socklen_t size = sizeof far->from;
            far->length = (size_t)recvfrom(far->socket, far->packet, sizeof far->packet, 0, (struct sockaddr *)&far->from,
                                           &size);
            /* A raw socket also receives our own answers. */
            if (target->protocol != CPING_ICMP || (far->length > 28 && far->packet[20] == 8)) answer(far, variant);
        }
        cping_event event;
        while (cping_read(pinger, &event, 1)) collect(&o, &event);
    }
    cping_get_stats(pinger, stats);
    cping_destroy(pinger);
    kinds++;
    return o;
}

/* A host that halts for longer than the timeout can leave a reply unread: then another ping is sent, three at most. */
static void is_ignored(struct far *far, const cping_target *target, answer answer, int variant) {
    unsigned seen = 0;
    for (int try = 0; try < 3 && seen == 0; try++) {
        cping_stats stats;
        struct outcome o = ping_once(far, target, answer, variant, &stats);
        CHECK_EQUAL(o.answered + o.late + o.duplicates + o.refused, 0);
        CHECK_EQUAL(o.lost, 1);
        seen = stats.foreign_source + stats.unknown_sequence + stats.unknown_magic + stats.short_replies + stats.corrupt;
    }
    /* The reply was seen and classified. */
    CHECK(seen > 0);
}

static void is_answered(struct far *far, const cping_target *target, answer answer, int variant) {
    cping_stats stats;
    cping_target slow = patient(*target);
    struct outcome o = ping_once(far, &slow, answer, variant, &stats);
    CHECK_EQUAL(o.answered, 1);
    CHECK(o.last.rtt_ns > 0 && o.last.rtt_ns <= o.last.rtt_bound_ns + 1000);
}

static void send_udp(struct far *far, int socket, const uint8_t *bytes, size_t length) {
    CHECK(sendto(socket, bytes, length, 0, (struct sockaddr *)&far->from, sizeof far->from) == (ssize_t)length);
}

/* ---- RTR ---- */

enum { RTR_KINDS = 14 };

static void answer_rtr(struct far *far, int variant) {
    static uint8_t reply[60000];
    size_t length = 8;
    int socket = far->socket;
    memset(reply, 0x55, sizeof reply);
    memcpy(reply, "RR01", 4);
    memcpy(reply + 4, far->packet + 4, 4);
    uint32_t sequence = cping__get32(reply + 4);
    switch (variant) {
    case 0: length = 0; break;
    case 1: length = 7; break;
    case 2: reply[1] = 'X'; break;
    case 3: cping__put32(reply + 4, sequence + 1); break;
    case 4: cping__put32(reply + 4, sequence - 1); break;
    case 5: memcpy(reply, far->packet, length = 24); break;
    case 6: memset(reply, 0, length = sizeof reply); break;
    case 7: socket = far->other_port; break;
    case 8: socket = far->other_address; break;
    case 9: memcpy(reply, "rr01", 4); break;
    case 10: cping__put32(reply + 4, __builtin_bswap32(sequence)); break;
    case 11: cping__put32(reply + 4, sequence ^ 0x80000000u); break;
    case 12: memmove(reply + 1, reply, 8), reply[0] = 0, length = 9; break;
    case 13: memcpy(reply, "RR02", 4); break;
    case 100: length = sizeof reply; break;  /* longer is allowed */
    }
    for (int i = 0; i < (variant == 101 ? 1000 : 1); i++) send_udp(far, socket, reply, length);
}

static void rtr(struct far *far) {
    cping_stats stats;
    cping_target target = rtr_target("127.0.0.1", port_of(far->socket), 1);
    target.timeout_ns = 60000000;
    for (int i = 0; i < RTR_KINDS; i++) is_ignored(far, &target, answer_rtr, i);
    is_answered(far, &target, answer_rtr, 100);
    /* A thousand duplicates: the first is the answer, and none of the others is while the target lives. */
    struct outcome o = ping_once(far, &target, answer_rtr, 101, &stats);
    CHECK_EQUAL(o.answered, 1);
    CHECK_EQUAL(o.late + o.lost, 0);
    CHECK(stats.duplicates <= 999);
}

/* ---- One-way ---- */

enum { ONEWAY_KINDS = 13 };

static void answer_oneway(struct far *far, int variant) {
    uint8_t *packet = far->packet;
    cping__oneway reply = {.receive_ns = cping_now(), .send_ns = cping_now(), .received = 1, .sent = 1};
    size_t length = far->length;
    int socket = far->socket;
    switch (variant) {
    case 0: packet[8] ^= 1; break;               /* token */
    case 1: packet[16] ^= 1; break;              /* session */
    case 2: packet[7] ^= 1; break;               /* number */
    case 3: packet[27] ^= 1; break;              /* sequence */
    case 4: length -= 8; break;
    case 5: length += 8; break;
    case 6: socket = far->other_port; break;
    case 7: socket = far->other_address; break;
    case 102: reply.receive_ns = UINT64_MAX, reply.send_ns = 0; break;
    case 103: reply.receive_ns = 1, reply.send_ns = INT64_MAX; break;
    case 104:
        reply.history = UINT64_MAX, reply.received = reply.sent = reply.duplicates = UINT32_MAX, reply.flags = UINT32_MAX;
        break;
    }
    cping__oneway_make_reply(packet, length, &reply);
    if (variant == 8) packet[71] ^= 1;           /* check */
    if (variant == 9) packet[90] ^= 1;           /* padding */
    if (variant == 10) memcpy(packet, "CPQ1", 4);
    if (variant == 11) length = 71;
    if (variant == 12) length = 60000;
    send_udp(far, socket, packet, length);
}

static void oneway(struct far *far) {
    cping_target target = {.protocol = CPING_ONEWAY, .timeout_ns = 60000000, .count = 1, .size = 96};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", port_of(far->socket)), 0);
    for (int i = 0; i < ONEWAY_KINDS; i++) is_ignored(far, &target, answer_oneway, i);
    for (int i = 101; i < 105; i++) is_answered(far, &target, answer_oneway, i);
}

/* ---- UDP echo ---- */

enum { UDPECHO_KINDS = 12 };

static void answer_udpecho(struct far *far, int variant) {
    uint8_t *packet = far->packet;
    size_t length = far->length;
    int socket = far->socket;
    switch (variant) {
    case 0: packet[0] ^= 1; break;               /* mark */
    case 1: packet[7] ^= 1; break;               /* sequence */
    case 2: packet[8] ^= 1; break;               /* token */
    case 3: packet[17] ^= 1; break;              /* port */
    case 4: packet[23] ^= 1; break;              /* pattern */
    case 5: length -= 1; break;
    case 6: packet[length++] = 0; break;
    case 7: length = 0; break;
    case 8: length = 15; break;
    case 9: length = 60000; break;
    case 10: socket = far->other_port; break;
    case 11: socket = far->other_address; break;
    }
    send_udp(far, socket, packet, length);
}

static void udpecho(struct far *far) {
    cping_target target = {.protocol = CPING_UDP_ECHO, .timeout_ns = 60000000, .count = 1};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", port_of(far->socket)), 0);
    for (int i = 0; i < UDPECHO_KINDS; i++) is_ignored(far, &target, answer_udpecho, i);
    is_answered(far, &target, answer_udpecho, 100);
    target.size = 1400;
    is_answered(far, &target, answer_udpecho, 100);
}

/* ---- ICMP ---- */

enum { ICMP_KINDS = 16 };

static uint16_t checksum(const uint8_t *bytes, size_t length) {
    uint32_t sum = 0;
    for (size_t i = 0; i < length; i++) sum += (uint32_t)bytes[i] << (i & 1 ? 0 : 8);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* Sends `icmp` with its checksum, or with a wrong one. */
static void send_icmp(struct far *far, const char *source, size_t options, uint8_t *icmp, size_t length, int wrong) {
    static uint8_t packet[65535];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr("127.0.0.1")};
    struct iphdr ip = {.version = 4, .ihl = (unsigned)(5 + options / 4) & 15, .ttl = 64, .protocol = IPPROTO_ICMP,
                       .saddr = inet_addr(source), .daddr = to.sin_addr.s_addr};
    memcpy(packet, &ip, 20);
    memset(packet + 20, 1, options);  /* no operation */
    cping__put16(icmp + 2, 0);
    cping__put16(icmp + 2, (uint16_t)(checksum(icmp, length) ^ (wrong ? 0x100 : 0)));
    memcpy(packet + 20 + options, icmp, length);
    ssize_t sent = sendto(far->raw, packet, 20 + options + length, 0, (struct sockaddr *)&to, sizeof to);
    CHECK(sent == (ssize_t)(20 + options + length));
}

static void answer_echo(struct far *far, int variant) {
    static uint8_t icmp[61000];
    size_t length = far->length - 20, options = 0;
    const char *source = "127.0.0.1";
    memset(icmp, 0, sizeof icmp);
    memcpy(icmp, far->packet + 20, length);
    icmp[0] = 0;
    switch (variant) {
    case 0: icmp[5] ^= 1, icmp[0] = 0; break;                    /* identifier; the filter drops it */
    case 1: icmp[7] ^= 1; break;                                 /* sequence */
    case 2: icmp[8] ^= 1; break;                                 /* token */
    case 3: icmp[19] ^= 1; break;                                /* sequence in the payload */
    case 4: icmp[40] ^= 1; break;                                /* pattern */
    case 5: length = 40; break;                                  /* truncated, with a good checksum */
    case 6: length = 12; break;
    case 7: length = 8; break;
    case 8: cping__fill_payload(icmp + 8, 100, cping__get32(icmp + 16), cping__get64(icmp + 8)), length = 108; break;
    case 9: length = 60000; break;
    case 10: break;                                              /* wrong checksum */
    case 11: source = "127.0.0.9"; break;
    case 12: icmp[1] = 3; break;                                 /* code */
    case 13: cping__fill_payload(icmp + 8, 56, cping__get32(icmp + 16) + 1, cping__get64(icmp + 8)); break;
    case 14: cping__fill_payload(icmp + 8, 56, cping__get32(icmp + 16), 99); break;
    case 15: icmp[0] = 14; break;                                /* another type; the filter drops it */
    default: options = (size_t)(variant - 100) * 4; break;
    }
    send_icmp(far, source, options, icmp, length, variant == 10);
}

/* An ICMP error that quotes `quoted` bytes of the request; then the true reply. */
static void answer_quote(struct far *far, int quoted) {
    uint8_t icmp[256] = {3, 1};
    size_t length = (size_t)quoted < far->length ? (size_t)quoted : far->length;
    memcpy(icmp + 8, far->packet, length);
    send_icmp(far, "127.0.0.1", 0, icmp, 8 + length, 0);
    answer_echo(far, 100);
}

/* A forged error about a ping that was never sent. */
static void answer_false_quote(struct far *far, int variant) {
    uint8_t icmp[256] = {3, 1};
    memcpy(icmp + 8, far->packet, 84);
    if (variant == 0) icmp[8 + 20 + 5] ^= 1;
    if (variant == 1) icmp[8 + 28] ^= 1;   /* token */
    if (variant == 2) icmp[8 + 36] ^= 1;   /* sequence */
    if (variant == 3) icmp[8 + 20] = 0;    /* a reply is quoted */
    send_icmp(far, "127.0.0.1", 0, icmp, 8 + 84, 0);
    answer_echo(far, 100);
}

static void icmp(struct far *far) {
    cping_stats stats;
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .timeout_ns = 60000000, .count = 1};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", 0), 0);
    for (int i = 0; i < ICMP_KINDS; i++) {
        int is_filtered = i == 0 || i == 15;
        if (!is_filtered) is_ignored(far, &target, answer_echo, i);
        else CHECK_EQUAL(ping_once(far, &target, answer_echo, i, &stats).lost, 1);
    }
    /* IP options before a true reply, up to the maximum. */
    for (int i = 0; i <= 10; i++) is_answered(far, &target, answer_echo, 100 + i);
    for (int i = 0; i < 4; i++) is_answered(far, &target, answer_false_quote, i);
    unsigned errors = 0;
    cping_target slow = patient(target);
    for (int quoted = 0; quoted <= 84; quoted += quoted < 48 ? 1 : 6) {
        struct outcome o = ping_once(far, &slow, answer_quote, quoted, &stats);
        /* A reply after an accepted error is late, but true. */
        CHECK_EQUAL(o.answered + o.icmp_errors, 1);
        CHECK(o.last.rtt_ns < 0 || o.last.rtt_ns <= o.last.rtt_bound_ns + 1000);
        errors += o.icmp_errors;
        if (quoted < 28) CHECK_EQUAL(o.icmp_errors, 0);
    }
    CHECK(errors > 0);
}

int main(void) {
    static struct far far;
    enter_new_namespace();
    run_command("sysctl -qw net.ipv4.icmp_echo_ignore_all=1");
    far.socket = udp_socket("127.0.0.1");
    far.other_port = udp_socket("127.0.0.1");
    far.other_address = udp_socket("127.0.0.2");
    far.raw = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
    CHECK(far.raw >= 0);
    rtr(&far);
    oneway(&far);
    udpecho(&far);
    far.socket = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    icmp(&far);
    printf("%u hostile replies, no false sample\n", kinds);
    return 0;
}
