/* ICMP over the loopback of its own network namespace, where ping_group_range can be set. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static void enter_namespace(void) {
    if (unshare(CLONE_NEWNET) != 0) skip("a network namespace needs CAP_SYS_ADMIN");
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(ioctl(fd, SIOCGIFFLAGS, &request) == 0);
    request.ifr_flags |= IFF_UP;
    CHECK(ioctl(fd, SIOCSIFFLAGS, &request) == 0);
    close(fd);
}

static void set_group_range(const char *range) {
    int fd = open("/proc/sys/net/ipv4/ping_group_range", O_WRONLY);
    if (fd < 0 || write(fd, range, strlen(range)) < 0) skip("ping_group_range cannot be set");
    close(fd);
}

static cping_target echo_target(const char *address, enum cping_socket socket) {
    cping_target target = {.protocol = CPING_ICMP, .socket = socket, .interval_ns = 10000000, .timeout_ns = 500000000,
                           .count = 10};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, 0), 0);
    return target;
}

static void is_answered(const char *address, enum cping_socket socket) {
    cping_target target = echo_target(address, socket);
    strcpy(target.interface_name, "lo");
    cping_stats stats;
    struct outcome o = run_target(&target, 0, &stats);
    CHECK_EQUAL(o.verdicts, 10);
    CHECK_EQUAL(o.answered + o.not_sent, 10);
    CHECK(o.answered > 0);
    CHECK(o.last.rtt_ns > 0 && o.kernel_stamps > 0);
    /* Loopback also delivers our own requests; the raw socket's filter drops them. */
    CHECK_EQUAL(stats.unknown_magic + stats.corrupt + stats.foreign_source, 0);
    CHECK_EQUAL(stats.duplicates + stats.short_replies + stats.unknown_sequence, 0);
}

static enum cping_socket opened(const cping_target *target, int64_t *id) {
    cping *pinger;
    cping_target_info info = {0};
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    *id = cping_add(pinger, target);
    if (*id > 0) CHECK_EQUAL(cping_inspect(pinger, *id, &info), 0);
    cping_destroy(pinger);
    return info.socket;
}

static void chooses(const char *address, enum cping_socket asked, enum cping_socket expected) {
    cping_target target = echo_target(address, asked);
    int64_t id;
    CHECK_EQUAL(opened(&target, &id), expected);
    CHECK(id > 0);
}

static void is_not_permitted(const char *address, enum cping_socket asked) {
    cping_target target = echo_target(address, asked);
    int64_t id;
    opened(&target, &id);
    CHECK_EQUAL(id, -EACCES);
}

/* Runs `body` in a process that has lost its privileges for good. */
static void without_privileges(void (*body)(void)) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setgid(65534) == 0 && setuid(65534) == 0);
        body();
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void nothing_works(void) {
    is_not_permitted("127.0.0.1", CPING_SOCKET_AUTO);
    is_not_permitted("::1", CPING_SOCKET_AUTO);
    is_not_permitted("127.0.0.1", CPING_SOCKET_DATAGRAM);
    is_not_permitted("::1", CPING_SOCKET_RAW);
}

static void datagrams_work(void) {
    is_answered("127.0.0.1", CPING_SOCKET_AUTO);
    is_answered("::1", CPING_SOCKET_DATAGRAM);
    is_not_permitted("127.0.0.1", CPING_SOCKET_RAW);
}

int main(void) {
    enter_namespace();
    set_group_range("1 0");
    chooses("127.0.0.1", CPING_SOCKET_AUTO, CPING_SOCKET_RAW);
    is_not_permitted("127.0.0.1", CPING_SOCKET_DATAGRAM);
    is_answered("127.0.0.1", CPING_SOCKET_RAW);
    is_answered("::1", CPING_SOCKET_RAW);
    without_privileges(nothing_works);
    set_group_range("0 65535");
    chooses("::1", CPING_SOCKET_AUTO, CPING_SOCKET_DATAGRAM);
    is_answered("127.0.0.1", CPING_SOCKET_DATAGRAM);
    is_answered("::1", CPING_SOCKET_DATAGRAM);
    without_privileges(datagrams_work);
    return 0;
}
