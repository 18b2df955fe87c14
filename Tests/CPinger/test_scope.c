/* Link-local addresses are valid on one link, identified by its interface's name. When the interface goes and comes back with
 * another index, pings continue. In namespaces of the test's own. */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>

#include "namespaces.h"
#include "recovery.h"

static pid_t far_side;

/* Set the neighbours: otherwise the kernel asks for them, and repeats the request only after a second. */
static void add_link(void) {
    run_command("ip link add v0 address 02:00:00:00:00:01 type veth peer name s0 address 02:00:00:00:00:02 netns %d", far_side);
    run_command("nsenter -t %d -n sh -c 'ip link set s0 addrgenmode none up; ip address add fe80::2/64 dev s0 nodad; "
                "ip neigh replace fe80::1 lladdr 02:00:00:00:00:01 nud permanent dev s0'", far_side);
    run_command("ip link set v0 addrgenmode none up; ip address add fe80::1/64 dev v0 nodad; "
                "ip neigh replace fe80::2 lladdr 02:00:00:00:00:02 nud permanent dev v0");
}

static cping_target target_at(const char *address, enum cping_protocol protocol, uint16_t port) {
    cping_target target = {.protocol = protocol, .interval_ns = 20000000, .timeout_ns = 200000000};
    if (protocol == CPING_ICMP) target.socket = CPING_SOCKET_RAW;
    CHECK_EQUAL(cping_address_parse(&target.destination, address, port), 0);
    return target;
}

/* The same addresses on the interface that now has the name. */
static void follow_by_name(cping_target *target) {
    uint32_t index = if_nametoindex("v0");
    if (target->destination.scope_id) target->destination.scope_id = index;
    if (target->source.scope_id) target->source.scope_id = index;
}

static void goes_and_comes_back(const char *name, cping_target target) {
    follow_by_name(&target);
    struct run run = begin_run(name, &target);
    unsigned before = if_nametoindex("v0");
    run_command("ip link del v0");
    wait_ms(200);
    AWAIT(inspect(run.pinger, run.id).blocked == ENODEV);
    heal(&run);
    add_link();
    CHECK(if_nametoindex("v0") != before);
    follow_by_name(&run.target);
    end(&run);
}

/* The interface is renamed: pings must not follow its index. */
static void is_not_followed_by_index(void) {
    cping_target target = target_at("fe80::2%v0", CPING_ICMP, 0);
    cping *pinger;
    cping_target_info info;
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    AWAIT(inspect(pinger, id).answered > 0);
    run_command("ip link set v0 down && ip link set v0 name x0 && ip link set x0 up");
    AWAIT(inspect(pinger, id).blocked == ENODEV);
    uint64_t sent = inspect(pinger, id).sent;
    wait_ms(100);
    CHECK_EQUAL(cping_inspect(pinger, id, &info), 0);
    CHECK_EQUAL(info.sent, sent);
    CHECK(sent > 0);
    cping_destroy(pinger);
    run_command("ip link del x0");
    add_link();
}

int main(void) {
    enter_new_namespace();
    far_side = hold_namespace();
    add_link();
    int here = open_namespace(0), there = open_namespace(far_side);
    switch_namespace(there);
    struct reflector reflector = REFLECT("--listen", "::", "--listen", "127.0.0.1", "--one-way");
    switch_namespace(here);

    AT_ONCE(goes_and_comes_back("link-local, ICMP", target_at("fe80::2%v0", CPING_ICMP, 0)));
    AT_ONCE(goes_and_comes_back("link-local, UDP", target_at("fe80::2%v0", CPING_ONEWAY, reflector.port)));
    cping_target bound = target_at("fe80::2%v0", CPING_ICMP, 0);
    strcpy(bound.interface_name, "v0");
    AT_ONCE(goes_and_comes_back("link-local and bound to the interface", bound));
    cping_target sourced = target_at("fe80::2%v0", CPING_ICMP, 0);
    CHECK_EQUAL(cping_address_parse(&sourced.source, "fe80::1%v0", 0), 0);
    AT_ONCE(goes_and_comes_back("link-local source, ICMP", sourced));
    cping_target udp = target_at("fe80::2%v0", CPING_ONEWAY, reflector.port);
    CHECK_EQUAL(cping_address_parse(&udp.source, "fe80::1%v0", 0), 0);
    AT_ONCE(goes_and_comes_back("link-local source, UDP", udp));
    is_not_followed_by_index();
    reflector_stop(reflector);
    release_namespace(far_side);
    return 0;
}
