/* Missing privileges are named exactly, and unneeded ones are dropped. Each test runs in its own process. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>

#include "namespaces.h"

static cping_target echo_target(enum cping_socket socket) {
    cping_target target = {.protocol = CPING_ICMP, .socket = socket, .interval_ns = 5000000, .timeout_ns = 500000000};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", 0), 0);
    return target;
}

static void says(const cping_target *target, int expected, const char *words) {
    char text[512];
    int error = cping_diagnose(target, text, sizeof text);
    if (!strstr(text, words)) fprintf(stderr, "said: %s\n", text);
    CHECK_EQUAL(error, expected);
    CHECK(strstr(text, words));
}

static void missing_privileges_are_named(void) {
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    cping_target target = echo_target(CPING_SOCKET_AUTO);
    says(&target, -EACCES, "group 65534 is not in net.ipv4.ping_group_range (1 0), and CAP_NET_RAW is not among");
    target.socket = CPING_SOCKET_RAW;
    says(&target, -EACCES, "raw ICMP is not permitted: CAP_NET_RAW is not among the effective capabilities");
    cping_target udp = rtr_target("127.0.0.1", 9, 1);
    says(&udp, 0, "no error");
    udp.mark = 3;
    says(&udp, -EPERM, "setting mark 3 needs CAP_NET_ADMIN");
    udp.mark = 0;
    strcpy(udp.interface_name, "nosuch0");
    says(&udp, -ENODEV, "there is no network interface nosuch0");
}

static uint32_t permitted(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    CHECK(syscall(SYS_capget, &header, data) == 0);
    return data[0].permitted | data[0].effective | data[0].inheritable | data[1].permitted;
}

static unsigned answers(cping *pinger, unsigned wanted) {
    unsigned count = 0;
    while (count < wanted) {
        cping_event event;
        CHECK_EQUAL(cping_wait(pinger, 1000), 1);
        CHECK_EQUAL(cping_read(pinger, &event, 1), 1);
        count += event.kind == CPING_ANSWERED;
    }
    return count;
}

static void drop(uint32_t flags, unsigned keep, int may_open) {
    cping *pinger;
    cping_target target = echo_target(CPING_SOCKET_RAW), other = target;
    other.ttl = 3;  /* needs a socket of its own */
    CHECK_EQUAL(cping_create(&(cping_options){.flags = flags}, &pinger), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    CHECK_EQUAL(answers(pinger, 5), 5);
    CHECK_EQUAL(cping_drop_privileges(pinger, keep), 0);
    /* A pinger's own thread keeps its privileges, and the caller has none. */
    if (!flags) CHECK_EQUAL(permitted(), 0);
    CHECK_EQUAL(answers(pinger, 5), 5);
    int64_t more = cping_add(pinger, &other);
    if (may_open) CHECK(more > 0);
    else CHECK_EQUAL(more, -EACCES);
    cping_destroy(pinger);
}

static void everything(void) {
    drop(0, 0, 0);
}

static void everything_but_recovery(void) {
    drop(0, CPING_KEEP_RECOVERY, 1);
}

static void everything_threadless(void) {
    drop(CPING_OPTION_THREADLESS, 0, 0);
    CHECK_EQUAL(permitted(), 0);
}

int main(void) {
    enter_new_namespace();
    run_command("sysctl -qw net.ipv4.ping_group_range='1 0'");
    in_process(missing_privileges_are_named);
    in_process(everything);
    in_process(everything_but_recovery);
    in_process(everything_threadless);
    return 0;
}
