/* Follows the kernel's reports of changed links, addresses and routes, so that sockets follow their interface at once. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "cpnetwork.h"
#include "engine.h"

int cping__network_open(cping *pinger) {
    int fd = cpnetwork_open();
    if (fd < 0) return fd;
    pinger->network_fd = fd;
    return 1;
}

void cping__scope_note(cping__target *target) {
    uint32_t index = target->config.destination.scope_id;
    memset(target->scope_name, 0, sizeof target->scope_name);
    target->blocked = 0;
    if (index) cping__channel_interface_name(target->channel, index, target->scope_name);
}

void cping__scope_refresh(cping__target *target) {
    if (target->scope_name[0] == 0) return;
    uint32_t index = cping__channel_interface_index(target->channel, target->scope_name);
    target->blocked = index ? 0 : -ENODEV;
    /* The directory goes by address and port: the target stays where it is. */
    if (index) target->config.destination.scope_id = index;
}

void cping__network_read(cping *pinger) {
    if (cpnetwork_drain(pinger->network_fd) <= 0) return;
    CPING__COUNT(pinger, network_changes);
    cping__channel *channel;
    LIST_FOREACH(channel, &pinger->channels, link) cping__network_refresh(pinger, channel);
    for (size_t i = 0; i < pinger->target_count; i++) cping__scope_refresh(pinger->targets[i]);
}

void cping__network_refresh(cping *pinger, cping__channel *channel) {
    /* Read the datagrams that wait in the socket before it is replaced. */
    if (cping__channel_is_bound(channel)) cping__read_arrived(pinger, channel, cping__now());
    if (!cping__channel_refresh(channel)) return;
    /* It can be a new descriptor. */
    cping__watch(pinger, channel);
    CPING__COUNT(pinger, reopened);
}
