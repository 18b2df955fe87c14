/* Pings that are ready to leave, as many at once as the kernel takes in one call. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "pending.h"

enum { CPING__OUTBOX_AREA = 66000 };

typedef struct cping__outbox {
    cping__channel *channel;
    size_t count, used;
    cping__ping *pings[CPING__BATCH];
    cping__outgoing packets[CPING__BATCH];
    uint8_t area[CPING__OUTBOX_AREA];
} cping__outbox;

/* Takes a ping that is open and sends it, now or at the latest with the flush. */
void cping__outbox_put(cping *pinger, cping__ping *ping);

/* Nothing else may happen between the last put and this. */
void cping__outbox_flush(cping *pinger);
