/* A socket is reopened, and the host refuses a part of it: it is replaced until it is complete. The test removes interfaces and
 * makes options fail: linked with --wrap. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel.h"
#include "support.h"

static struct {
    int is_gone;        /* the interface */
    int is_bound;       /* a bound socket cannot be bound again, as without privileges */
    int level, option;  /* this option fails; 0, 0: none */
    int bind_fails;
    int failures;
} host;

int __real_setsockopt(int fd, int level, int option, const void *value, socklen_t length);
int __real_ioctl(int fd, unsigned long request, ...);
int __real_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);

static int fail(int error) {
    errno = error;
    host.failures++;
    return -1;
}

static int is_bound_to_interface(int fd) {
    char name[16];
    socklen_t length = sizeof name;
    return getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &length) == 0 && length > 0;
}

int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t length) {
    if (host.option && level == host.level && option == host.option) return fail(ENOBUFS);
    if (host.is_bound && level == SOL_SOCKET && option == SO_BINDTODEVICE && is_bound_to_interface(fd)) return fail(EPERM);
    return __real_setsockopt(fd, level, option, value, length);
}

int __wrap_ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (host.is_gone && request == SIOCGIFINDEX) return fail(ENODEV);
    return __real_ioctl(fd, request, argument);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length) {
    return host.bind_fails ? fail(EADDRNOTAVAIL) : __real_bind(fd, address, length);
}

static int option_of(const cping__channel *channel, int level, int option) {
    int value = 0;
    socklen_t length = sizeof value;
    CHECK(getsockopt(channel->fd, level, option, &value, &length) == 0);
    return value;
}

static void check_whole(const cping__channel *channel) {
    struct sockaddr_in local;
    socklen_t length = sizeof local;
    CHECK(is_bound_to_interface(channel->fd));
    CHECK_EQUAL(option_of(channel, IPPROTO_IP, IP_RECVERR), 1);
    CHECK_EQUAL(option_of(channel, IPPROTO_IP, IP_TTL), 7);
    CHECK(option_of(channel, SOL_SOCKET, SO_TIMESTAMPING) != 0);
    CHECK(getsockname(channel->fd, (struct sockaddr *)&local, &length) == 0);
    CHECK_EQUAL(ntohs(local.sin_port), channel->local_port);
    CHECK_EQUAL(ntohl(local.sin_addr.s_addr), INADDR_LOOPBACK);
    CHECK_EQUAL(channel->blocked, 0);
}

static cping__channel *open_channel(void) {
    cping__channel *channel;
    cping_target target = {.protocol = CPING_RTR, .ttl = 7, .interface_name = "lo"};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", 9), 0);
    CHECK_EQUAL(cping_address_parse(&target.source, "127.0.0.1", 0), 0);
    memset(&host, 0, sizeof host);
    int error = cping__channel_open(&target, &channel);
    if (error == -EPERM) skip("binding to an interface is not permitted");
    CHECK_EQUAL(error, 0);
    check_whole(channel);
    return channel;
}

static void lose_interface(cping__channel *channel) {
    host.is_gone = 1;
    CHECK_EQUAL(cping__channel_refresh(channel), 0);
    CHECK_EQUAL(channel->blocked, -ENODEV);
    host.is_gone = 0;
    host.is_bound = 1;
}

static void check_heals(cping__channel *channel, int error) {
    uint16_t port = channel->local_port;
    host.failures = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(cping__channel_refresh(channel), 0);
        CHECK_EQUAL(channel->blocked, error);
    }
    CHECK(host.failures >= 3);
    host.bind_fails = host.option = host.is_gone = 0;
    /* Binding the half-open socket again would now be allowed. */
    host.is_bound = 0;
    CHECK_EQUAL(cping__channel_refresh(channel), 1);
    check_whole(channel);
    CHECK_EQUAL(channel->local_port, port);
    cping__channel_close(channel);
}

static void when_an_option_fails_then_the_socket_is_replaced(int level, int option) {
    cping__channel *channel = open_channel();
    lose_interface(channel);
    host.level = level;
    host.option = option;
    check_heals(channel, -ENOBUFS);
}

static void when_the_source_is_missing_then_the_socket_is_replaced(void) {
    cping__channel *channel = open_channel();
    lose_interface(channel);
    host.bind_fails = 1;
    check_heals(channel, -EADDRNOTAVAIL);
}

static void when_nothing_fails_then_the_same_socket_is_bound(void) {
    cping__channel *channel = open_channel();
    int fd = channel->fd;
    lose_interface(channel);
    host.is_bound = 0;
    CHECK_EQUAL(cping__channel_refresh(channel), 1);
    CHECK_EQUAL(channel->fd, fd);
    check_whole(channel);
    cping__channel_close(channel);
}

int main(void) {
    when_nothing_fails_then_the_same_socket_is_bound();
    when_an_option_fails_then_the_socket_is_replaced(IPPROTO_IP, IP_RECVERR);
    when_an_option_fails_then_the_socket_is_replaced(IPPROTO_IP, IP_TTL);
    when_an_option_fails_then_the_socket_is_replaced(SOL_SOCKET, SO_BINDTODEVICE);
    when_the_source_is_missing_then_the_socket_is_replaced();
    return 0;
}
