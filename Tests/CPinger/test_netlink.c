/* The link that the kernel would choose, and reports of changes, in a namespace of the test's own. */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sys/socket.h>

#include "cpnetwork.h"
#include "namespaces.h"

static int route(const char *destination, const char *interface_name, cpnetwork_link *link) {
    cping_address address;
    CHECK_EQUAL(cping_address_parse(&address, destination, 0), 0);
    return cpnetwork_route(&address, interface_name, link);
}

static void leaves_by(const char *destination, const char *interface_name, const char *expected) {
    cpnetwork_link link;
    CHECK_EQUAL(route(destination, interface_name, &link), 0);
    if (strcmp(link.name, expected) != 0) fprintf(stderr, "%s leaves by %s\n", destination, link.name);
    CHECK(strcmp(link.name, expected) == 0);
}

static void fails(const char *destination, const char *interface_name, int expected) {
    cpnetwork_link link;
    CHECK_EQUAL(route(destination, interface_name, &link), expected);
}

static void the_route_is_the_kernels(void) {
    leaves_by("198.51.100.1", NULL, "a0");
    leaves_by("2001:db8::1", NULL, "b0");
    leaves_by("10.8.0.9", "", "b0");
    leaves_by("127.0.0.1", NULL, "lo");
    leaves_by("10.7.0.1", NULL, "lo");
    leaves_by("fe80::1%b0", NULL, "b0");
    fails("203.0.113.1", NULL, -EHOSTUNREACH);
    fails("203.0.113.2", NULL, -EACCES);
    fails("203.0.113.3", NULL, -EINVAL);
    fails("2001:db8:1::1", NULL, -EHOSTUNREACH);
}

static void a_bound_socket_leaves_by_its_interface(void) {
    leaves_by("198.51.100.1", "b0", "b0");
    leaves_by("198.51.100.1", "a0", "a0");
    fails("198.51.100.1", "nosuch0", -ENODEV);
    fails("198.51.100.1", "a-name-that-is-too-long", -ENODEV);
    fails("2001:db8::1", "a0", -ENETUNREACH);
}

static void carries(const char *destination, const char *interface_name, const char *expected) {
    cpnetwork_link link;
    char text[64];
    CHECK_EQUAL(route(destination, interface_name, &link), 0);
    cping_address_format(&link.source, text, sizeof text);
    if (strcmp(text, expected) != 0) fprintf(stderr, "%s carries %s\n", destination, text);
    CHECK(strcmp(text, expected) == 0);
}

static void the_source_is_the_kernels(void) {
    carries("198.51.100.1", NULL, "10.7.0.1");
    carries("198.51.100.1", "b0", "10.8.0.1");
    carries("2001:db8::1", NULL, "fd08::1");
    carries("127.0.0.1", NULL, "127.0.0.1");
    run_command("ip address add 10.7.0.77/24 dev a0 && ip route replace default via 10.7.0.2 src 10.7.0.77");
    carries("198.51.100.1", NULL, "10.7.0.77");
    run_command("ip route replace default via 10.7.0.2 && ip address del 10.7.0.77/24 dev a0");
    carries("198.51.100.1", NULL, "10.7.0.1");
}

static void links_are_described(void) {
    cpnetwork_link link;
    CHECK_EQUAL(route("198.51.100.1", NULL, &link), 0);
    CHECK(strcmp(link.kind, "veth") == 0 && link.hardware == ARPHRD_ETHER && link.is_running == 1 && link.index > 0);
    CHECK_EQUAL(route("127.0.0.1", NULL, &link), 0);
    CHECK(link.kind[0] == 0 && link.hardware == ARPHRD_LOOPBACK);
    /* No carrier: the route is still there, but nothing gets through. */
    run_command("ip link set a1 down");
    CHECK_EQUAL(route("198.51.100.1", NULL, &link), 0);
    CHECK(strcmp(link.name, "a0") == 0 && link.is_running == 0);
    run_command("ip link set a1 up");
    run_command("ip link add a-name-of-15-ch type veth peer name c1 && ip link set c1 up && ip link set a-name-of-15-ch up && "
                "ip route add 203.0.113.9 dev a-name-of-15-ch");
    leaves_by("203.0.113.9", NULL, "a-name-of-15-ch");
}

/* That there is one shows only a kernel with nl80211 and an 802.11 radio. */
static void a_cable_has_no_wifi_network(void) {
    uint8_t ssid[CPNETWORK_SSID_SIZE];
    cpnetwork_link link;
    CHECK_EQUAL(route("198.51.100.1", NULL, &link), 0);
    int none = cpnetwork_ssid(link.index, ssid), nowhere = cpnetwork_ssid(0x7fffffff, ssid);
    CHECK(none == -ENOENT || none == -ENODEV || none == -EINVAL);
    CHECK(nowhere == -ENOENT || nowhere == -ENODEV);
}

static void without_any_route(void) {
    run_command("ip route del default; ip -6 route del default");
    fails("198.51.100.1", NULL, -ENETUNREACH);
    fails("2001:db8::1", NULL, -ENETUNREACH);
}

static int is_readable(int changes, int timeout_ms) {
    return poll(&(struct pollfd){.fd = changes, .events = POLLIN}, 1, timeout_ms);
}

static void reports(int changes, const char *command) {
    while (is_readable(changes, 50)) CHECK(cpnetwork_drain(changes) >= 0);
    CHECK_EQUAL(cpnetwork_drain(changes), 0);
    run_command("%s", command);
    CHECK_EQUAL(is_readable(changes, 2000), 1);
    CHECK_EQUAL(cpnetwork_drain(changes), 1);
}

static void changes_are_reported(void) {
    int changes = cpnetwork_open();
    CHECK(changes >= 0);
    reports(changes, "ip link set b1 down");
    reports(changes, "ip address add 10.9.0.1/24 dev a0");
    reports(changes, "ip route add 192.0.2.0/24 via 10.7.0.2");
    reports(changes, "ip -6 route add 2001:db8:2::/64 dev a0");
    close(changes);
    CHECK_EQUAL(cpnetwork_drain(changes), -EBADF);
}

/* More changes than the socket's buffer holds: an overrun counts as a change, and the descriptor continues to work. */
static void an_overrun_is_a_change(void) {
    int changes = cpnetwork_open(), small = 1;
    CHECK(changes >= 0);
    CHECK_EQUAL(setsockopt(changes, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    run_command("for i in $(seq 1 100); do echo \"route add 192.0.2.$i via 10.7.0.2\"; done | ip -batch -");
    CHECK_EQUAL(is_readable(changes, 2000), 1);
    int overruns = 0;
    char byte;
    while (recv(changes, &byte, 1, MSG_DONTWAIT | MSG_TRUNC) >= 0 || errno == ENOBUFS) overruns += errno == ENOBUFS, errno = 0;
    CHECK(overruns > 0);
    run_command("for i in $(seq 101 200); do echo \"route add 192.0.2.$i via 10.7.0.2\"; done | ip -batch -");
    CHECK_EQUAL(cpnetwork_drain(changes), 1);
    reports(changes, "ip route del 192.0.2.7");
    close(changes);
}

int main(void) {
    enter_new_namespace();
    run_command("ip link add a0 type veth peer name a1 && ip link add b0 type veth peer name b1 && "
                "for l in a0 a1 b0 b1; do ip link set $l up; done && ip address add 10.7.0.1/24 dev a0 && "
                "ip address add 10.8.0.1/24 dev b0 && ip address add fd08::1/64 dev b0 nodad && "
                "sysctl -qw net.ipv6.conf.a0.disable_ipv6=0");
    run_command("ip route add default via 10.7.0.2 && ip -6 route add default via fd08::2 && "
                "ip route add unreachable 203.0.113.1 && ip route add prohibit 203.0.113.2 && "
                "ip route add blackhole 203.0.113.3 && ip -6 route add unreachable 2001:db8:1::/64");
    the_route_is_the_kernels();
    a_bound_socket_leaves_by_its_interface();
    the_source_is_the_kernels();
    links_are_described();
    changes_are_reported();
    an_overrun_is_a_change();
    a_cable_has_no_wifi_network();
    without_any_route();
    return 0;
}
