/* Listens to what the kernel tells of links, addresses and routes, so that sockets follow their interface at once. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine.h"

int cping__network_open(cping *pinger) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK,
                                  .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
                                               RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -errno;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    pinger->network_fd = fd;
    return 1;
}

/* Only that there was something matters: what is the case now is asked for. A full buffer (ENOBUFS) says so too. */
void cping__network_read(cping *pinger) {
    char buffer[8192];
    int changed = 0;
    for (int i = 0; i < 256; i++) {
        ssize_t length = recv(pinger->network_fd, buffer, sizeof buffer, MSG_DONTWAIT);
        if (length < 0 && errno != ENOBUFS) break;
        changed = 1;
    }
    if (!changed) return;
    CPING__COUNT(pinger, network_changes);
    cping__channel *channel;
    LIST_FOREACH(channel, &pinger->channels, link) cping__network_refresh(pinger, channel);
}

void cping__network_refresh(cping *pinger, cping__channel *channel) {
    if (!cping__channel_refresh(channel)) return;
    /* It can be a new descriptor. */
    cping__watch(pinger, channel);
    CPING__COUNT(pinger, reopened);
}
