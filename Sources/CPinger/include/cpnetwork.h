/*
 * cpnetwork: which link carries packets to a host, and when that may have changed. The kernel is asked by rtnetlink; nothing
 * is sent to anybody, and no privilege is needed.
 *
 *     int changes = cpnetwork_open();
 *     cpnetwork_link link;
 *     do {
 *         int error = cpnetwork_route(&destination, NULL, &link);
 *         ...
 *         poll(&(struct pollfd){.fd = changes, .events = POLLIN}, 1, -1);
 *     } while (cpnetwork_drain(changes) >= 0);
 *     close(changes);
 *
 * The conventions are those of cpinger.h. The functions are independent of each other and of any pinger.
 */
#ifndef CPNETWORK_H
#define CPNETWORK_H

#include <stdint.h>

#include "cpinger.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a descriptor that polls readable when a link, an address or a route of this network namespace has changed. It
 * belongs to the caller, who closes it. */
int cpnetwork_open(void);

/* Reads away what the descriptor has. Returns 1 when something has changed since the last call, or may have: the kernel
 * says so when there was more to tell than it could keep. 0: nothing. */
int cpnetwork_drain(int changes);

typedef struct cpnetwork_link {
    char name[16];
    char kind[16];        /* of a link that software makes: "veth", "wireguard", "vlan" ...; "": it stands for hardware */
    uint32_t index;
    uint16_t hardware;    /* ARPHRD_ETHER ... (net/if_arp.h) */
    uint8_t is_running;   /* up, and with a carrier as far as the kernel knows */
    uint8_t reserved;
    cping_address source; /* which packets carry there unless a socket says otherwise; family 0: the kernel names none */
} cpnetwork_link;

/* The link by which a packet to `destination` (its port is ignored) would leave now, from a socket that is bound to the
 * interface `interface_name`; NULL or "": from one that is not bound. Rules of policy routing that look at marks, users or
 * source addresses are asked for a packet without any.
 *   -ENETUNREACH, -EHOSTUNREACH, -EACCES, -EINVAL  no route, or one that says so (unreachable, prohibit, blackhole)
 *   -ENODEV                                        there is no interface of that name */
int cpnetwork_route(const cping_address *destination, const char *interface_name, cpnetwork_link *link);

#ifdef __cplusplus
}
#endif

#endif
