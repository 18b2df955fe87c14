/* Checks the settings of a target. */
#include <string.h>

#include "address.h"
#include "engine.h"
#include "icmp.h"
#include "udpecho.h"

enum { ALL_FLAGS = CPING_TARGET_FLOOD | CPING_TARGET_DONT_FRAGMENT | CPING_TARGET_ICMP_ID | CPING_TARGET_AWAIT |
                   CPING_TARGET_REPORT_TTL };

cping_target cping__target_defaults(const cping_target *config) {
    cping_target target = *config;
    int floods = (target.flags & CPING_TARGET_FLOOD) != 0;
    if (target.interval_ns == 0 && !floods) target.interval_ns = 100 * CPING__MILLISECOND;
    if (target.timeout_ns == 0) target.timeout_ns = CPING__SECOND;
    if (target.window == 0) target.window = 64;
    if (target.size == 0 && target.protocol == CPING_ICMP) target.size = CPING__ICMP_PAYLOAD;
    if (target.size == 0 && target.protocol == CPING_ONEWAY) target.size = CPING__ONEWAY_HEADER;
    if (target.size == 0 && target.protocol == CPING_UDP_ECHO) target.size = CPING__UDPECHO_PAYLOAD;
    return target;
}

static int is_size_valid(const cping_target *target) {
    switch (target->protocol) {
    case CPING_RTR: return target->size == 0;
    case CPING_ICMP: return target->size >= CPING__ICMP_KEY && target->size <= CPING__ICMP_LARGEST;
    case CPING_ONEWAY: return target->size >= CPING__ONEWAY_HEADER && target->size <= CPING__ONEWAY_LARGEST;
    case CPING_UDP_ECHO: return target->size >= CPING__UDPECHO_HEADER && target->size <= CPING__UDPECHO_LARGEST;
    }
    return 0;  /* no such protocol */
}

static int are_addresses_valid(const cping_target *target) {
    const cping_address *to = &target->destination, *from = &target->source;
    if (to->family != 4 && to->family != 6) return 0;
    if ((target->protocol == CPING_ICMP) != (to->port == 0)) return 0;
    if (from->family != 0 && from->family != to->family) return 0;
    return !cping__address_is_unspecified(to);
}

static int are_times_valid(const cping_target *target) {
    uint64_t least_ns = target->flags & CPING_TARGET_FLOOD ? 0 : CPING__MILLISECOND;
    return target->interval_ns >= least_ns && target->interval_ns <= 86400 * CPING__SECOND &&
           target->timeout_ns <= 86400 * CPING__SECOND;
}

int cping__target_is_valid(const cping_target *target) {
    if (!is_size_valid(target) || !are_addresses_valid(target) || !are_times_valid(target)) return 0;
    if (target->socket > CPING_SOCKET_RAW || target->flags & ~(uint32_t)ALL_FLAGS) return 0;
    if (target->protocol != CPING_ICMP && target->socket == CPING_SOCKET_RAW) return 0;
    if (target->protocol != CPING_ICMP && target->flags & CPING_TARGET_ICMP_ID) return 0;
    if (target->window > 65536) return 0;
    return memchr(target->interface_name, 0, sizeof target->interface_name) != NULL;
}
