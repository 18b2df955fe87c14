/* Flooding: targets without a grid, which send as fast as replies come in. Targets that share a socket also share a window of as many pings
 * as its receive buffer holds, so that only the network loses pings. */
#ifndef CPING__FLOOD_H
#define CPING__FLOOD_H

#include <stdint.h>

#include "channel.h"
#include "cpinger.h"

struct cping__target;

/* Whether a socket can send now; the thread does not wait then. */
int cping__flood_is_due(cping *pinger);

/* Sends one batch on each socket that has room, in turns of its targets, and reads the replies that have come. */
void cping__flood_run(cping *pinger, uint64_t now_ns);

/* The time of the target's next ping has come. */
void cping__flood_due(struct cping__target *target, uint64_t now_ns);

/* A ping could not be sent: delays the next one, so that slots are not used up at full speed while nothing can be sent. */
void cping__flood_hold(struct cping__target *target, uint64_t now_ns);

/* The target's phase or the number of its pings under way has changed. */
void cping__flood_changed(struct cping__target *target);

/* When the target itself, not its socket, can send again; CPING__NEVER if no time is waited for. */
uint64_t cping__flood_next(const struct cping__target *target);

#endif
