/* Networks that break and heal, in namespaces of the test's own: the run continues, and is answered at once after healing. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

#include "recovery.h"
#include "topology.h"

static struct run begin(const char *name, const cping_target *target) {
    /* The previous change may still be settling. */
    await_answer("10.2.0.2");
    return begin_run(name, target);
}

static void link_down_and_up(cping_target target, const char *name) {
    struct run run = begin(name, &target);
    run_command("ip link set v0 down");
    wait_ms(200);
    heal(&run);
    run_command("ip link set v0 up && ip route replace default via 10.1.0.1");
    end(&run);
    run_command("ip address add fd01::2/64 dev v0 nodad; true");
    default_by(1);
}

static void address_changes(void) {
    cping_target target = echo_to("10.2.0.2");
    struct run run = begin("address changed", &target);
    run_command("ip address flush dev v0 scope global");
    wait_ms(200);
    heal(&run);
    run_command("ip address add 10.1.0.77/24 dev v0 && ip route replace default via 10.1.0.1");
    end(&run);
    run_command("ip address del 10.1.0.77/24 dev v0; ip address add 10.1.0.2/24 dev v0; "
                "ip address add fd01::2/64 dev v0 nodad; true");
    default_by(1);
}

static void *drop_in_thread(void *pinger) {
    return (void *)(intptr_t)cping_drop_privileges(pinger, 0);
}

static void interface_comes_back(cping_target target, int unprivileged, const char *name) {
    strcpy(target.interface_name, "v0");
    struct run run = begin(name, &target);
    if (unprivileged) {
        /* Capabilities belong to a thread: the drop in the new one leaves ours alone. */
        pthread_t thread;
        void *result;
        CHECK_EQUAL(pthread_create(&thread, NULL, drop_in_thread, run.pinger), 0);
        pthread_join(thread, &result);
        CHECK_EQUAL((intptr_t)result, 0);
    }
    run_command("ip link del v0");
    wait_ms(200);
    AWAIT(inspect(run.pinger, run.id).blocked == ENODEV);
    heal(&run);
    add_link("v0", "p0", 1);
    run_command("ip route replace default via 10.1.0.1");
    end(&run);
    default_by(1);
}

static void default_route_moves(void) {
    cping_target target = echo_to("10.2.0.2");
    struct run run = begin("default route moved to another interface", &target);
    run_command("nsenter -t %d -n ip link set p0 down", router);
    wait_ms(200);
    heal(&run);
    default_by(4);
    end(&run);
    run_command("nsenter -t %d -n sh -c 'ip link set p0 up; ip address add fd01::1/64 dev p0 nodad; true'", router);
    default_by(1);
}

static void server_comes_back(void) {
    struct reflector reflector = serve();
    cping_target target = rtr_to("10.2.0.2", reflector.port);
    struct run run = begin("server gone and back", &target);
    reflector_stop(reflector);
    wait_ms(200);
    heal(&run);
    char port[8];
    snprintf(port, sizeof port, "%u", reflector.port);
    int here = open_namespace(0), there = open_namespace(server);
    switch_namespace(there);
    reflector = REFLECT("--port", port, "--listen", "10.2.0.2", "--listen", "fd02::2");
    switch_namespace(here);
    end(&run);
    reflector_stop(reflector);
    close(here);
    close(there);
}

static void policy_forbids_and_allows(const char *action, int error, const char *name) {
    cping_target target = echo_to("10.2.0.2");
    struct run run = begin(name, &target);
    run.error = error;
    run_command("ip rule add pref 10 to 10.2.0.2 %s", action);
    wait_ms(200);
    heal(&run);
    run_command("ip rule del pref 10");
    end(&run);
}

static void firewall_drops(void) {
    cping_target target = echo_to("10.2.0.2");
    struct run run = begin("firewall: output dropped (EPERM)", &target);
    run.error = EPERM;
    run_command("nft 'add table inet cut; add chain inet cut output { type filter hook output priority 0; policy drop; }'");
    wait_ms(200);
    heal(&run);
    run_command("nft delete table inet cut");
    end(&run);
}

/* A queue with almost no room refuses the rest. */
static void queue_is_full(void) {
    cping_target target = echo_to("10.2.0.2");
    struct run run = begin("queue full (ENOBUFS)", &target);
    run.error = ENOBUFS;
    run_command("tc qdisc add dev v0 root tbf rate 8bit burst 110 limit 220");
    wait_ms(300);
    heal(&run);
    run_command("tc qdisc del dev v0 root");
    end(&run);
}

static long echoes_at_server(void) {
    char command[128], line[256];
    snprintf(command, sizeof command, "nsenter -t %d -n sed -n 's/^IcmpMsg: [0-9].*//p; /^Icmp: [0-9]/p' /proc/net/snmp", server);
    FILE *pipe = popen(command, "r");
    long echoes = -1;
    while (fgets(line, sizeof line, pipe)) {
        sscanf(line, "Icmp: %*d %*d %*d %*d %*d %*d %*d %*d %ld", &echoes);
    }
    pclose(pipe);
    CHECK(echoes >= 0);
    return echoes;
}

/* The default route leads by w0 all the time; a target bound to v0 must not use it, even when v0 is removed or renamed. */
static void bound_fails_closed(void) {
    cping_target target = echo_to("10.2.0.2");
    target.flags = CPING_TARGET_AWAIT;
    strcpy(target.interface_name, "v0");
    run_command("ip link del v0");
    default_by(4);
    cping *pinger;
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    long before = echoes_at_server();
    int64_t id = cping_add(pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    wait_ms(200);
    CHECK_EQUAL(echoes_at_server(), before);
    add_link("v0", "p0", 1);
    run_command("ip route add default via 10.1.0.1 dev v0 metric 100");
    AWAIT(echoes_at_server() > before);
    run_command("ip link del v0");
    AWAIT(inspect(pinger, id).blocked == ENODEV);
    wait_ms(60);
    long during = echoes_at_server();
    wait_ms(200);
    CHECK_EQUAL(echoes_at_server(), during);
    /* A renamed interface is no longer the requested one. */
    add_link("v0", "p0", 1);
    run_command("ip route add default via 10.1.0.1 dev v0 metric 100");
    AWAIT(echoes_at_server() > during);
    run_command("ip link set v0 down && ip link set v0 name x0 && ip link set x0 up");
    AWAIT(inspect(pinger, id).blocked == ENODEV);
    wait_ms(60);
    during = echoes_at_server();
    wait_ms(200);
    CHECK_EQUAL(echoes_at_server(), during);
    cping_destroy(pinger);
    printf("bound to v0 while the default route leads by w0: nothing left by w0\n");
}

int main(void) {
    build_network();
    struct reflector reflector = serve();
    AT_ONCE(link_down_and_up(echo_to("10.2.0.2"), "link down and up, ICMP"));
    AT_ONCE(link_down_and_up(rtr_to("10.2.0.2", reflector.port), "link down and up, RTR"));
    AT_ONCE(address_changes());
    AT_ONCE(interface_comes_back(echo_to("10.2.0.2"), 0, "interface gone and back, ICMP"));
    AT_ONCE(interface_comes_back(rtr_to("10.2.0.2", reflector.port), 0, "interface gone and back, RTR"));
    AT_ONCE(interface_comes_back(rtr_to("10.2.0.2", reflector.port), 1, "the same without privileges"));
    AT_ONCE(default_route_moves());
    AT_ONCE(server_comes_back());
    AT_ONCE(policy_forbids_and_allows("prohibit", EACCES, "policy rule: prohibit (EACCES)"));
    AT_ONCE(policy_forbids_and_allows("blackhole", EINVAL, "policy rule: blackhole (EINVAL)"));
    AT_ONCE(policy_forbids_and_allows("unreachable", ENETUNREACH, "policy rule: unreachable (ENETUNREACH)"));
    if (system("tc qdisc add dev w0 root tbf rate 8bit burst 110 limit 220 2>/dev/null && tc qdisc del dev w0 root") == 0) {
        AT_ONCE(queue_is_full());
    } else {
        printf("no token bucket queue here: ENOBUFS is not tried\n");
    }
    if (system("nft list ruleset >/dev/null 2>&1") == 0) AT_ONCE(firewall_drops());
    else printf("no nftables here: EPERM is not tried\n");
    bound_fails_closed();
    reflector_stop(reflector);
    leave_network();
    return 0;
}
