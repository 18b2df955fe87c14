#define _GNU_SOURCE
#include "listeners.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct addrinfo *resolve(const char *address) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *result;
    int error = getaddrinfo(address, "0", &hints, &result);
    if (error == 0) return result;
    fprintf(stderr, "reflector: --listen %s: expected a numeric IPv4 or IPv6 address\n", address);
    exit(64);
}

static void set_port(struct sockaddr *address, uint16_t port) {
    if (address->sa_family == AF_INET) ((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
    else ((struct sockaddr_in6 *)(void *)address)->sin6_port = htons(port);
}

static uint16_t local_port(int fd) {
    struct sockaddr_in6 address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) return 0;
    return ntohs(address.sin6_port);  /* at the same place in sockaddr_in */
}

static void set_up_stamps(int fd) {
    int on = 1, size = 4 << 20;
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) == 0) return;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

static int open_bound(const struct addrinfo *info, uint16_t port) {
    int fd = socket(info->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    if (fd < 0) return -1;
    set_up_stamps(fd);
    if (info->ai_family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    } else {
        setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    }
    set_port(info->ai_addr, port);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0) return fd;
    close(fd);
    return -1;
}

/* The first address uses the given port, or any; the others use the same. Returns the number of opened sockets. */
static size_t open_all(struct listener *listeners, const struct options *options, uint16_t port) {
    for (size_t i = 0; i < options->listen_count; i++) {
        struct addrinfo *info = resolve(options->listen[i]);
        int fd = open_bound(info, port);
        int error = errno;
        listeners[i] = (struct listener){.fd = fd, .other_fd = fd < 0 ? -1 : open_bound(info, 0)};
        if (fd >= 0) listeners[i].port = local_port(fd);
        freeaddrinfo(info);
        errno = error;
        if (fd < 0) return i;
        port = local_port(fd);
    }
    return options->listen_count;
}

void listeners_close(struct listener *listeners, size_t count) {
    for (size_t i = 0; i < count; i++) {
        close(listeners[i].fd);
        close(listeners[i].other_fd);
    }
}

static void announce(const struct listener *listeners, const struct options *options) {
    for (size_t i = 0; i < options->listen_count; i++) {
        const char *address = options->listen[i];
        const char *format = strchr(address, ':') ? "reflector: listening on [%s]:%u\n" : "reflector: listening on %s:%u\n";
        printf(format, address, local_port(listeners[i].fd));
    }
    fflush(stdout);
}

void listeners_open(struct listener *listeners, const struct options *options) {
    size_t count = options->listen_count;
    /* A port that is free on one address can be in use on another: try a few. */
    for (int attempt = 0; attempt < 16; attempt++) {
        size_t opened = open_all(listeners, options, options->port);
        if (opened == count) {
            announce(listeners, options);
            return;
        }
        int error = errno;
        listeners_close(listeners, opened);
        if (options->port == 0 && error == EADDRINUSE) continue;
        fprintf(stderr, "reflector: cannot listen on %s port %u: %s\n", options->listen[opened],
                options->port, strerror(error));
        exit(1);
    }
    fprintf(stderr, "reflector: found no port that is free on all addresses\n");
    exit(1);
}
