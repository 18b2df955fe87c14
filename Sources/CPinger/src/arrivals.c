/* Reads before verdicts: a ping is lost only if its reply is not among the datagrams that have arrived. */
#include "engine.h"

/* Reads until the socket is empty, or until as many datagrams were read as its buffer can hold, so that a flood of foreign datagrams
 * cannot block the thread. */
static int read_all(cping *pinger, cping__channel *channel, int (*read)(cping *, cping__channel *)) {
    size_t most = channel->most_queued / (CPING__HAUL * CPING__HAULS_AT_ONCE) + 1;
    for (size_t i = 0; i < most; i++) {
        if (read(pinger, channel)) return 1;
        if (!cping__has_room(pinger)) return 0;
    }
    return 1;
}

int cping__read_arrived(cping *pinger, cping__channel *channel, uint64_t now_ns) {
    if (channel->read_until_ns >= now_ns) return 1;
    uint64_t begun_ns = cping__now();
    /* Stamps go first: replies wait for them. */
    if (!read_all(pinger, channel, cping__read_notices)) return 0;
    if (!read_all(pinger, channel, cping__read_datagrams)) return 0;
    channel->read_until_ns = begun_ns;
    return 1;
}
