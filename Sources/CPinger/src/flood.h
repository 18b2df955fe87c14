/* Flooding: targets without a grid, which send as fast as replies come in. Targets that share a socket also share a window of as many pings
 * as its receive buffer holds, so that only the network loses pings. */
#pragma once

#include <stdint.h>

#include "channel.h"
#include "cpinger.h"

/* Whether a socket can send now; the thread does not wait then. */
int cping__flood_is_due(cping *pinger);

/* Sends one batch on each socket that has room, in turns of its targets, and reads the replies that have come. */
void cping__flood_run(cping *pinger, uint64_t now_ns);
