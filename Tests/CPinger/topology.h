/* A client (the test), a router and a server, each in a namespace of its own:
 *
 *     client --- v0 10.1.0.2, w0 10.4.0.2 --- router 10.1.0.1, 10.4.0.1, 10.2.0.1 --- server 10.2.0.2
 *
 * and the same with fd01::, fd04:: and fd02::.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <time.h>

#include "namespaces.h"
#include "token.h"

static pid_t router, server;

static inline void add_link(const char *name, const char *peer, int net) {
    run_command("ip link add %s type veth peer name %s netns %d", name, peer, router);
    run_command("ip address add 10.%d.0.2/24 dev %s && ip address add fd0%d::2/64 dev %s nodad && ip link set %s up", net, name,
                net, name, name);
    run_command("nsenter -t %d -n sh -c 'ip address add 10.%d.0.1/24 dev %s; ip address add fd0%d::1/64 dev %s nodad; "
                "ip link set %s up'", router, net, peer, net, peer, peer);
}

static inline void default_by(int net) {
    run_command("ip route replace default via 10.%d.0.1 && ip -6 route replace default via fd0%d::1", net, net);
}

static inline void build_network(void) {
    enter_new_namespace();
    router = hold_namespace();
    server = hold_namespace();
    run_command("nsenter -t %d -n sh -c 'ip link add r1 type veth peer name s0 netns %d; ip address add 10.2.0.1/24 dev r1; "
                "ip address add fd02::1/64 dev r1 nodad; ip link set r1 up; sysctl -qw net.ipv4.ip_forward=1 "
                "net.ipv6.conf.all.forwarding=1 net.ipv4.icmp_ratemask=0 net.ipv6.icmp.ratelimit=0 "
                "net.ipv4.icmp_msgs_per_sec=100000; ip route add unreachable 10.9.1.0/24; ip route add prohibit 10.9.2.0/24'",
                router, server);
    run_command("nsenter -t %d -n sh -c 'ip address add 10.2.0.2/24 dev s0; ip address add fd02::2/64 dev s0 nodad; "
                "ip link set s0 up; ip route add default via 10.2.0.1; ip -6 route add default via fd02::1; "
                "sysctl -qw net.ipv4.icmp_ratemask=0 net.ipv6.icmp.ratelimit=0'", server);
    add_link("v0", "p0", 1);
    add_link("w0", "q0", 4);
    default_by(1);
    await_answer("fd02::2");
}

static inline struct reflector serve(void) {
    int here = open_namespace(0), there = open_namespace(server);
    switch_namespace(there);
    struct reflector reflector = REFLECT("--listen", "10.2.0.2", "--listen", "fd02::2", "--one-way");
    switch_namespace(here);
    close(here);
    close(there);
    return reflector;
}

static inline cping_target echo_to(const char *address) {
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .interval_ns = 20000000,
                           .timeout_ns = 200000000};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, 0), 0);
    return target;
}

static inline cping_target rtr_to(const char *address, uint16_t port) {
    cping_target target = rtr_target("127.0.0.1", port, 0);
    uint8_t client[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 0, 2};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, port), 0);
    token_mint(target.token, client, (uint32_t)time(NULL), "test");
    target.interval_ns = 20000000;
    return target;
}

static inline void leave_network(void) {
    release_namespace(router);
    release_namespace(server);
}

#endif
