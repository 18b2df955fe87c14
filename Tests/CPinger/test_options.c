/* How a target's options change its packets, and how a pinger learns about send stamps. Loopback of an own namespace. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>

#include <linux/net_tstamp.h>

#include "bytes.h"
#include "engine.h"
#include "namespaces.h"

static cping_target echo_to(const char *address) {
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .timeout_ns = 200000000, .count = 1};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, 0), 0);
    return target;
}

/* The first echo request sent, with its IP header. */
static size_t request_of(const cping_target *target, uint8_t *packet, size_t size) {
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    CHECK(fd >= 0);
    struct outcome o = run_target(target, 0, NULL);
    CHECK_EQUAL(o.answered, 1);
    for (;;) {
        ssize_t length = recv(fd, packet, size, MSG_DONTWAIT);
        CHECK(length > 28);
        if (packet[20] != 8) continue;
        close(fd);
        return (size_t)length;
    }
}

static void packets_are_as_asked(enum cping_socket kind) {
    static uint8_t packet[70000];
    cping_target target = echo_to("127.0.0.1");
    target.socket = kind;
    target.size = 1000;
    target.ttl = 7;
    target.traffic_class = 0xb8;
    target.flags = CPING_TARGET_DONT_FRAGMENT | CPING_TARGET_ICMP_ID;
    target.icmp_id = 0x4242;
    CHECK_EQUAL(cping_address_parse(&target.source, "127.0.0.5", 0), 0);
    CHECK_EQUAL(request_of(&target, packet, sizeof packet), 20 + 8 + 1000);
    CHECK_EQUAL(packet[1], 0xb8);
    CHECK_EQUAL(packet[6] & 0x40, 0x40);
    CHECK_EQUAL(packet[8], 7);
    CHECK_EQUAL(cping__get16(packet + 24), 0x4242);
    CHECK_EQUAL(packet[15], 5);
    target = echo_to("127.0.0.1");
    target.socket = kind;
    target.size = 65507;
    CHECK_EQUAL(request_of(&target, packet, sizeof packet), 65535);
    target.size = 12;
    CHECK_EQUAL(request_of(&target, packet, sizeof packet), 40);
}

static void ipv6_packets_are_as_asked(void) {
    int fd = socket(AF_INET6, SOCK_DGRAM, 0), on = 1;
    struct sockaddr_in6 local = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t size = sizeof local;
    CHECK(bind(fd, (struct sockaddr *)&local, size) == 0 && getsockname(fd, (struct sockaddr *)&local, &size) == 0);
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof on);
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, &on, sizeof on);
    cping_target target = {.protocol = CPING_ONEWAY, .timeout_ns = 20000000, .count = 1, .size = 333, .ttl = 9,
                           .traffic_class = 0x28};
    CHECK_EQUAL(cping_address_parse(&target.destination, "::1", ntohs(local.sin6_port)), 0);
    run_target(&target, 0, NULL);
    char bytes[512], control[256] __attribute__((aligned(8)));
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    CHECK_EQUAL(recvmsg(fd, &message, 0), 333);
    int found = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        int value;
        memcpy(&value, CMSG_DATA(c), sizeof value);
        if (c->cmsg_type == IPV6_TCLASS) CHECK_EQUAL(value, 0x28), found++;
        if (c->cmsg_type == IPV6_HOPLIMIT) CHECK_EQUAL(value, 9), found++;
    }
    CHECK_EQUAL(found, 2);
    close(fd);
}

static void marks_and_sources(void) {
    cping_target target = echo_to("127.0.0.1");
    run_command("ip rule add pref 5 fwmark 7 prohibit && ip rule del pref 0 && ip rule add pref 100 lookup local");
    target.mark = 7;
    struct outcome o = run_target(&target, 0, NULL);
    CHECK_EQUAL(o.not_sent, 1);
    CHECK_EQUAL(o.last.error, EACCES);
    target.mark = 8;
    CHECK_EQUAL(run_target(&target, 0, NULL).answered, 1);
    CHECK_EQUAL(cping_address_parse(&target.source, "192.0.2.1", 0), 0);
    cping *pinger;
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    CHECK_EQUAL(cping_add(pinger, &target), -EADDRNOTAVAIL);
    cping_destroy(pinger);
    /* With AWAIT the target is accepted, and nothing is sent until the address exists. */
    target.flags = CPING_TARGET_AWAIT;
    CHECK_EQUAL(run_target(&target, 0, NULL).not_sent, 1);
    run_command("ip address add 192.0.2.1/32 dev lo");
    CHECK_EQUAL(run_target(&target, 0, NULL).answered, 1);
}

static void redirects(void) {
    cping *pinger;
    cping_target target = echo_to("127.0.0.1");
    target.interval_ns = 5000000;
    target.count = 40;
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    struct outcome o = {0};
    cping_address other;
    CHECK_EQUAL(cping_address_parse(&other, "::1", 0), 0);
    CHECK_EQUAL(cping_redirect(pinger, id, &other), -EAFNOSUPPORT);
    CHECK_EQUAL(cping_address_parse(&other, "127.0.0.2", 0), 0);
    for (cping_event event = {0}; event.kind != CPING_FINISHED;) {
        CHECK_EQUAL(cping_wait(pinger, 1000), 1);
        CHECK_EQUAL(cping_read(pinger, &event, 1), 1);
        collect(&o, &event);
        if (o.answered == 10 && event.kind == CPING_ANSWERED) CHECK_EQUAL(cping_redirect(pinger, id, &other), 0);
    }
    CHECK_EQUAL(o.answered + o.not_sent, 40);
    CHECK(memcmp(o.last.from.bytes, other.bytes, 16) == 0);
    cping_destroy(pinger);
}

/* ---- Send stamps ---- */

struct tried {
    cping *pinger;
    cping__channel *channel;
    int64_t id;
};

static struct tried try_stamps(void) {
    struct tried tried;
    cping_target target = echo_to("127.0.0.1");
    target.interval_ns = 20000000;
    target.count = 0;
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS}, &tried.pinger), 0);
    tried.id = cping_add(tried.pinger, &target);
    CHECK(tried.id > 0);
    tried.channel = LIST_FIRST(&tried.pinger->channels);
    CHECK_EQUAL(cping_start(tried.pinger, tried.id, 0), 0);
    return tried;
}

static cping_event next_answer(struct tried *tried) {
    cping_event event = {0};
    do {
        CHECK_EQUAL(cping_wait(tried->pinger, 1000), 1);
        CHECK_EQUAL(cping_read(tried->pinger, &event, 1), 1);
    } while (event.kind != CPING_ANSWERED);
    return event;
}

static enum cping_stamps learnt(struct tried *tried) {
    cping_target_info info;
    CHECK_EQUAL(cping_inspect(tried->pinger, tried->id, &info), 0);
    return info.send_stamps;
}

static void missing_stamps_are_learnt(void) {
    struct tried tried = try_stamps();
    CHECK_EQUAL(learnt(&tried), CPING_STAMPS_UNTRIED);
    /* Like an interface whose driver makes no stamps. */
    int receiving = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID;
    CHECK(setsockopt(tried.channel->fd, SOL_SOCKET, SO_TIMESTAMPING, &receiving, sizeof receiving) == 0);
    for (int i = 0; i < 4; i++) CHECK(next_answer(&tried).flags & CPING_FLAG_NO_SEND_STAMP);
    CHECK_EQUAL(learnt(&tried), CPING_STAMPS_MISSING);
    CHECK(next_answer(&tried).flags & CPING_FLAG_NO_SEND_STAMP);
    /* The pinger does not wait for stamps known to be missing: no ping is under way after its reply. */
    CHECK(TAILQ_EMPTY(&tried.pinger->stamp_waiters));
    cping__stamps_enable(tried.channel->fd);
    next_answer(&tried);
    next_answer(&tried);
    CHECK_EQUAL(learnt(&tried), CPING_STAMPS_DELIVERED);
    CHECK_EQUAL(next_answer(&tried).flags, 0);
    cping_destroy(tried.pinger);
}

/* Before Linux 6.13 the kernel numbers datagrams itself, and a failed datagram may or may not have had a number. */
static void older_kernels_number_themselves(void) {
    struct tried tried = try_stamps();
    cping__stamps_enable(tried.channel->fd);
    tried.channel->numbers_itself = 0;
    next_answer(&tried);
    for (int i = 0; i < 5; i++) CHECK_EQUAL(next_answer(&tried).send_stamp, CPING_STAMP_KERNEL);
    run_command("ip rule add pref 4 prohibit");
    for (cping_event event = {0}; event.kind != CPING_NOT_SENT || event.error != EACCES;) {
        CHECK_EQUAL(cping_wait(tried.pinger, 1000), 1);
        CHECK_EQUAL(cping_read(tried.pinger, &event, 1), 1);
    }
    run_command("ip rule del pref 4");
    for (int i = 0; i < 5; i++) {
        cping_event event = next_answer(&tried);
        CHECK_EQUAL(event.send_stamp, CPING_STAMP_KERNEL);
        CHECK(event.rtt_ns <= event.rtt_bound_ns);
    }
    cping_destroy(tried.pinger);
}

int main(void) {
    enter_new_namespace();
    run_command("sysctl -qw net.ipv4.ping_group_range='0 65535'");
    packets_are_as_asked(CPING_SOCKET_RAW);
    packets_are_as_asked(CPING_SOCKET_DATAGRAM);
    ipv6_packets_are_as_asked();
    redirects();
    missing_stamps_are_learnt();
    marks_and_sources();
    older_kernels_number_themselves();
    return 0;
}
