/* Errors from routers and from the host's own routes, in namespaces of the test's own. */
#define _GNU_SOURCE
#include <errno.h>

#include "topology.h"

static void reports(cping_target target, int type, int code, const char *reporter) {
    char text[64];
    if (!target.count) target.count = 5;
    cping_stats stats;
    struct outcome o = run_target(&target, 0, &stats);
    CHECK_EQUAL(o.verdicts, target.count);
    if (o.icmp_errors + o.not_sent != target.count) {
        fprintf(stderr, "type %d code %d of %s: errors %u not sent %u lost %u answered %u, unmatched %ju\n", type, code, reporter, o.icmp_errors, o.not_sent, o.lost,
                o.answered, (uintmax_t)stats.unmatched_errors);
    }
    CHECK_EQUAL(o.icmp_errors + o.not_sent, target.count);
    CHECK(o.icmp_errors > 0);
    CHECK_EQUAL(o.last.icmp_type, type);
    CHECK_EQUAL(o.last.icmp_code, code);
    cping_address_format(&o.last.from, text, sizeof text);
    if (strcmp(text, reporter) != 0) fprintf(stderr, "reported by %s, not %s\n", text, reporter);
    CHECK(strcmp(text, reporter) == 0);
}

static cping_target with_ttl(cping_target target) {
    target.ttl = 1;
    return target;
}

/* Routers report a bad route five times at once, then once a second: send one ping each. */
static cping_target once(cping_target target) {
    target.count = 1;
    return target;
}

static void routers_are_heard(void) {
    reports(with_ttl(echo_to("10.2.0.2")), 11, 0, "10.1.0.1");
    reports(with_ttl(echo_to("fd02::2")), 3, 0, "fd01::1");
    reports(with_ttl(rtr_to("10.2.0.2", 4440)), 11, 0, "10.1.0.1");
    reports(with_ttl(rtr_to("fd02::2", 4440)), 3, 0, "fd01::1");
    reports(rtr_to("10.2.0.2", 9), 3, 3, "10.2.0.2");
    reports(rtr_to("fd02::2", 9), 1, 4, "fd02::2");
    reports(once(echo_to("10.9.1.1")), 3, 1, "10.1.0.1");
    reports(once(echo_to("10.9.2.1")), 3, 13, "10.1.0.1");
    reports(once(rtr_to("10.9.1.1", 9)), 3, 1, "10.1.0.1");
    cping_target oneway = rtr_to("10.9.1.1", 9);
    oneway.protocol = CPING_ONEWAY;
    reports(once(oneway), 3, 1, "10.1.0.1");
    cping_target small = echo_to("10.9.1.1");
    small.size = 12;
    reports(once(small), 3, 1, "10.1.0.1");
    /* A path with a smaller MTU behind the router. */
    run_command("nsenter -t %d -n ip link set r1 mtu 1300", router);
    cping_target large = echo_to("10.2.0.2");
    large.size = 1400;
    large.flags = CPING_TARGET_DONT_FRAGMENT;
    reports(large, 3, 4, "10.1.0.1");
    run_command("nsenter -t %d -n ip link set r1 mtu 1500", router);
}

static void is_not_sent(const char *address, int error) {
    cping_target targets[] = {echo_to(address), rtr_to(address, 9)};
    for (int i = 0; i < 2; i++) {
        targets[i].count = 3;
        struct outcome o = run_target(&targets[i], 0, NULL);
        CHECK_EQUAL(o.not_sent, 3);
        CHECK_EQUAL(o.last.error, error);
    }
}

static void own_routes_refuse(void) {
    run_command("ip route add blackhole 10.8.1.0/24; ip route add unreachable 10.8.2.0/24; ip route add prohibit 10.8.3.0/24");
    is_not_sent("10.8.1.1", EINVAL);
    is_not_sent("10.8.2.1", EHOSTUNREACH);
    is_not_sent("10.8.3.1", EACCES);
    run_command("ip route del default");
    is_not_sent("10.7.0.1", ENETUNREACH);
    default_by(1);
}

/* The first link is the small one: the kernel itself refuses the ping. */
static void own_link_is_small(void) {
    run_command("ip link set v0 mtu 1300");
    const char *addresses[] = {"10.1.0.1", "fd01::1"};
    for (int i = 0; i < 2; i++) {
        cping_target large = echo_to(addresses[i]);
        large.size = 1400;
        large.count = 3;
        large.flags = CPING_TARGET_DONT_FRAGMENT;
        struct outcome o = run_target(&large, 0, NULL);
        CHECK_EQUAL(o.not_sent, 3);
        CHECK_EQUAL(o.last.error, EMSGSIZE);
        CHECK_EQUAL(o.last.mtu, 1300);
    }
    run_command("ip link set v0 mtu 1500");
}

int main(void) {
    build_network();
    routers_are_heard();
    own_link_is_small();
    own_routes_refuse();
    leave_network();
    return 0;
}
