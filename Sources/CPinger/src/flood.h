/* Flooding: targets without a grid, which send as fast as replies come in. Those that share a socket share a window too, of
 * as many pings as its receive buffer surely holds: what is lost is lost by the network. */
#ifndef CPING__FLOOD_H
#define CPING__FLOOD_H

#include <stdint.h>

#include "channel.h"
#include "cpinger.h"

struct cping__target;

/* Whether a socket could send now; nothing else need be waited for then. */
int cping__flood_is_due(cping *pinger);

/* One batch of each socket that has room, dealt out over its targets in turn, and what has come for it. */
void cping__flood_run(cping *pinger, uint64_t now_ns);

/* The target's time has come. */
void cping__flood_due(struct cping__target *target, uint64_t now_ns);

/* Something could not be sent: where nothing can be sent, slots are not burnt at the speed of light. */
void cping__flood_hold(struct cping__target *target, uint64_t now_ns);

/* Its phase or what is under way is another. */
void cping__flood_changed(struct cping__target *target);

/* When the target itself, not its socket, can send again; CPING__NEVER if no time is waited for. */
uint64_t cping__flood_next(const struct cping__target *target);

#endif
