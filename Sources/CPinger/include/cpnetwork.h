/*
 * cpnetwork: the link by which packets to a host leave, and its changes. It uses netlink, sends no packets, and needs no
 * privilege.
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

/* Drains the descriptor. Returns 1 when there was a change since the last call, or when the kernel's buffer overflowed, so that
 * there can have been one; 0: none. */
int cpnetwork_drain(int changes);

typedef struct cpnetwork_link {
    char name[16];
    char kind[16];        /* of a virtual link: "veth", "wireguard", "vlan" ...; "": a link of a device */
    uint32_t index;
    uint16_t hardware;    /* ARPHRD_ETHER ... (net/if_arp.h) */
    uint8_t is_running;   /* up, and with a carrier as far as the kernel knows */
    uint8_t reserved;
    cping_address source; /* the default source address of packets to the host; family 0: the kernel gives none */
} cpnetwork_link;

/* The link by which a packet to `destination` (its port is ignored) would leave now, from a socket that is bound to the
 * interface `interface_name`; NULL or "": from one that is not bound. Policy routing by marks, users or source addresses is
 * applied as to a packet without them.
 *   -ENETUNREACH, -EHOSTUNREACH, -EACCES, -EINVAL  no route, or one of type unreachable, prohibit or blackhole
 *   -ENODEV                                        there is no interface of that name */
int cpnetwork_route(const cping_address *destination, const char *interface_name, cpnetwork_link *link);

#define CPNETWORK_SSID_SIZE 32

/* The name of the Wi-Fi network that the interface of this index belongs to, from nl80211. Any bytes can be in it (IEEE 802.11, 9.4.2.2).
 * Returns their number; 0: it belongs to none now.
 *   -ENOENT          the kernel has no nl80211
 *   -ENODEV, -EINVAL the interface is gone, or is none of an 802.11 radio */
int cpnetwork_ssid(uint32_t index, uint8_t ssid[CPNETWORK_SSID_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
