#include "engine.h"

#include <errno.h>
#include <stdlib.h>

#define COUNT_BOTH(pinger, target, field, n)   \
    do {                                       \
        CPING__COUNT_MANY(pinger, field, n);   \
        (target)->totals.field += (n);         \
    } while (0)

static void change_state(cping__ping *ping, enum cping__state state) {
    ping->target->unexplained += state == CPING__LOST;
    ping->target->unexplained -= ping->state == CPING__LOST;
    ping->state = (uint8_t)state;
}

/* The ping leaves the list it was in. */
static void settle(cping *pinger, cping__ping *ping, enum cping__state state) {
    cping__target *target = ping->target;
    if (ping->state == CPING__OPEN) TAILQ_REMOVE(&target->open_pings, ping, link);
    change_state(ping, state);
    TAILQ_INSERT_TAIL(&pinger->finished, ping, link);
    pinger->remembered++;
    target->remembered++;
    cping__closed(target);
    cping__target_changed(pinger, target);
}

static void note_order(cping *pinger, cping__ping *ping, cping_event *event) {
    cping__target *target = ping->target;
    if (target->any_answered && target->newest_answered > ping->slot) {
        event->flags |= CPING_FLAG_REORDERED;
        COUNT_BOTH(pinger, target, reordered, 1);
        return;
    }
    target->any_answered = 1;
    target->newest_answered = ping->slot;
}

static void count_stamps(cping *pinger, uint32_t flags) {
    if (flags & CPING_FLAG_NO_SEND_STAMP) CPING__COUNT(pinger, no_send_stamp);
    if (flags & CPING_FLAG_NO_RECEIVE_STAMP) CPING__COUNT(pinger, no_receive_stamp);
    if (flags & CPING_FLAG_STAMPS_ABSURD) CPING__COUNT(pinger, absurd_stamps);
    if (flags & CPING_FLAG_CLOCK_STEP) CPING__COUNT(pinger, clock_steps);
}

static void add_oneway(const cping__ping *ping, const cping__reply *reply, cping_event *event) {
    const cping__oneway *far = &reply->oneway;
    int kernel = event->send_stamp == CPING_STAMP_KERNEL;
    int64_t sent = kernel ? cping__boot_time(&ping->sent, 0) : (int64_t)ping->sent.clocks.late_ns;
    int64_t received = kernel ? cping__boot_time(&reply->at, 0) : (int64_t)reply->at.clocks.early_ns;
    event->far_stamp = far->flags & CPING__ONEWAY_KERNEL_STAMP ? CPING_STAMP_KERNEL : CPING_STAMP_CLOCK;
    event->far_restarted = (far->flags & CPING__ONEWAY_RESTARTED) != 0;
    event->far_received = far->received;
    event->far_sent = far->sent;
    event->far_duplicates = far->duplicates;
    event->far_receive_ns = far->receive_ns;
    event->far_send_ns = far->send_ns;
    /* Unsigned: the far side's clock can have any value, and signed overflow is undefined. */
    event->up_ns = (int64_t)(far->receive_ns - (uint64_t)sent);
    event->down_ns = (int64_t)((uint64_t)received - far->send_ns);
}

static cping_event reply_event(cping *pinger, const cping__ping *ping, const cping__reply *reply) {
    cping__figure figure = cping__measure(&ping->sent, &reply->at);
    cping_event event = cping__event_at(ping->target, ping, CPING_ANSWERED, reply->at.clocks.early_ns);
    event.rtt_ns = figure.rtt_ns;
    event.rtt_bound_ns = figure.bound_ns;
    event.send_stamp = event.receive_stamp = figure.stamp;
    event.flags = figure.flags;
    event.from = reply->from;
    event.ttl = reply->ttl;
    if (reply->is_oneway) add_oneway(ping, reply, &event);
    count_stamps(pinger, figure.flags);
    return event;
}

static void report_late(cping *pinger, cping__ping *ping, const cping__reply *reply, cping_event event) {
    event.kind = CPING_LATE;
    if (reply->refused) event.flags |= CPING_FLAG_REFUSED;
    note_order(pinger, ping, &event);
    change_state(ping, CPING__ANSWERED);
    COUNT_BOTH(pinger, ping->target, late, 1);
    cping__emit(pinger, &event);
}

static void report_duplicate(cping *pinger, cping__ping *ping, const cping__reply *reply, cping_event event) {
    event.kind = CPING_DUPLICATE;
    if (reply->refused) event.flags |= CPING_FLAG_REFUSED;
    COUNT_BOTH(pinger, ping->target, duplicates, 1);
    cping__emit(pinger, &event);
}

static void report_in_time(cping *pinger, cping__ping *ping, const cping__reply *reply, cping_event event) {
    event.kind = reply->refused ? CPING_REFUSED : CPING_ANSWERED;
    note_order(pinger, ping, &event);
    if (reply->refused) COUNT_BOTH(pinger, ping->target, refused, 1);
    else COUNT_BOTH(pinger, ping->target, answered, 1);
    cping__emit(pinger, &event);
    settle(pinger, ping, CPING__ANSWERED);
}

static void report(cping *pinger, cping__ping *ping, const cping__reply *reply) {
    cping_event event = reply_event(pinger, ping, reply);
    if (ping->state == CPING__ANSWERED) {
        report_duplicate(pinger, ping, reply, event);
    } else if (ping->state == CPING__LOST || ping->state == CPING__FAILED) {
        report_late(pinger, ping, reply, event);
    } else if (event.rtt_ns <= (int64_t)ping->target->config.timeout_ns) {
        report_in_time(pinger, ping, reply, event);
    } else {
        cping__lost(pinger, ping);
        report_late(pinger, ping, reply, event);
    }
}

void cping__stop_waiting(cping *pinger, cping__ping *ping) {
    cping__reply reply = *ping->reply;
    TAILQ_REMOVE(&pinger->stamp_waiters, ping, link);
    free(ping->reply);
    ping->reply = NULL;
    report(pinger, ping, &reply);
}

/* The verdict waits a moment for the send stamp, if such stamps are known to come. */
static int begin_waiting(cping *pinger, cping__ping *ping, const cping__reply *reply) {
    if (ping->state != CPING__OPEN || ping->sent.kernel_ns != 0 || reply->at.kernel_ns == 0) return 0;
    if (ping->target->channel->stamps == CPING_STAMPS_MISSING) return 0;
    ping->reply = malloc(sizeof *ping->reply);
    if (!ping->reply) return 0;
    *ping->reply = *reply;
    TAILQ_REMOVE(&ping->target->open_pings, ping, link);
    ping->state = CPING__REPLIED;
    TAILQ_INSERT_TAIL(&pinger->stamp_waiters, ping, link);
    return 1;
}

/* Applies the history in a one-way reply to earlier pings without a verdict. */
static void note_history(const cping__ping *replied, const cping__oneway *far) {
    cping__target *target = replied->target;
    cping__ping *ping;
    if (far->flags & CPING__ONEWAY_RESTARTED && replied->slot > target->far_since) target->far_since = replied->slot;
    if (far->flags & CPING__ONEWAY_NO_HISTORY) return;
    TAILQ_FOREACH_REVERSE(ping, &target->open_pings, cping__pings, link) {
        if (ping->slot >= replied->slot) continue;
        uint32_t distance = replied->number - ping->number;
        /* Numbers wrap at 32 bits; slots do not. */
        if (distance > 64 || replied->slot - ping->slot > UINT32_MAX || ping->slot < target->far_since) break;
        if (far->history >> (distance - 1) & 1) ping->far = CPING__FAR_SEEN;
        else if (ping->far != CPING__FAR_SEEN) ping->far = CPING__FAR_MISSING;
    }
}

/* Uses the counters of the newest reply, or higher ones of an older reply: its ping reached the far end later. */
static void note_counters(const cping__ping *replied, const cping__oneway *far) {
    cping__target *target = replied->target;
    int is_behind = (int32_t)(far->received - target->totals.far_received) < 0 && !(far->flags & CPING__ONEWAY_RESTARTED);
    if (replied->slot < target->far_counted && is_behind) return;
    if (replied->slot > target->far_counted) target->far_counted = replied->slot;
    target->totals.far_received = far->received;
    target->totals.far_sent = far->sent;
    target->totals.far_duplicates = far->duplicates;
}

void cping__replied(cping *pinger, cping__ping *ping, const cping__reply *reply) {
    if (ping->state == CPING__REPLIED) cping__stop_waiting(pinger, ping);
    if (reply->is_oneway) {
        note_history(ping, &reply->oneway);
        note_counters(ping, &reply->oneway);
    }
    if (!begin_waiting(pinger, ping, reply)) report(pinger, ping, reply);
}

void cping__send_stamp(cping *pinger, cping__ping *ping, int64_t stamp_ns) {
    if (ping->sent.kernel_ns == 0) ping->sent.kernel_ns = stamp_ns;
    if (ping->state == CPING__REPLIED) cping__stop_waiting(pinger, ping);
}

void cping__lost(cping *pinger, cping__ping *ping) {
    cping__target *target = ping->target;
    cping_event event = cping__event(target, ping, CPING_LOST);
    if (ping->far == CPING__FAR_MISSING) {
        event.flags |= CPING_FLAG_LOST_UP;
        target->totals.lost_up++;
    } else if (ping->far == CPING__FAR_SEEN) {
        event.flags |= CPING_FLAG_LOST_DOWN;
        target->totals.lost_down++;
    }
    COUNT_BOTH(pinger, target, lost, 1);
    cping__emit(pinger, &event);
    settle(pinger, ping, CPING__LOST);
}

void cping__icmp_error(cping *pinger, cping__ping *ping, const cping__notice *notice) {
    cping_event event = cping__event(ping->target, ping, CPING_ICMP_ERROR);
    event.error = notice->error;
    event.icmp_type = notice->icmp_type;
    event.icmp_code = notice->icmp_code;
    event.mtu = notice->mtu;
    event.from = notice->reporter;
    COUNT_BOTH(pinger, ping->target, icmp_errors, 1);
    cping__emit(pinger, &event);
    settle(pinger, ping, CPING__FAILED);
}

void cping__corrupt(cping *pinger, cping__target *target, cping__ping *ping, const cping__datagram *datagram) {
    cping_event event = cping__event_at(target, ping, CPING_CORRUPT, datagram->at.clocks.early_ns);
    event.from = datagram->from;
    COUNT_BOTH(pinger, target, corrupt, 1);
    cping__emit(pinger, &event);
}

void cping__elsewhere(cping *pinger, cping__ping *ping, const cping__datagram *datagram) {
    if (ping->state != CPING__OPEN || ping->elsewhere) return;
    ping->elsewhere = 1;
    cping_event event = cping__event_at(ping->target, ping, CPING_ELSEWHERE, datagram->at.clocks.early_ns);
    event.from = datagram->from;
    cping__emit(pinger, &event);
}

static void emit_not_sent(cping *pinger, cping__target *target, cping_event event) {
    event.sent_ns = 0;
    COUNT_BOTH(pinger, target, not_sent, event.count);
    cping__emit(pinger, &event);
}

void cping__not_sent(cping *pinger, cping__ping *ping, int error) {
    cping__target *target = ping->target;
    /* A forged ICMP error can name a ping that is just being sent; then it has its verdict. */
    if (ping->state != CPING__OPEN) return;
    cping_event event = cping__event(target, ping, CPING_NOT_SENT);
    event.error = error;
    if (error == EMSGSIZE) event.mtu = target->channel->mtu;
    emit_not_sent(pinger, target, event);
    if (cping__floods(target)) cping__flood_hold(target, ping->sent.clocks.late_ns);
    TAILQ_REMOVE(&target->open_pings, ping, link);
    cping__closed(target);
    cping__place_leave(pinger, ping);
    cping__pending_remove(&pinger->pending, ping);
    cping__target_changed(pinger, target);
}

static cping_event slot_event(const cping__target *target, uint64_t slot, uint64_t slot_ns, int error, uint64_t count) {
    cping_event event = cping__event(target, NULL, CPING_NOT_SENT);
    event.slot = slot;
    event.slot_ns = slot_ns;
    event.error = error;
    event.count = count;
    return event;
}

void cping__missed(cping *pinger, cping__target *target, uint64_t slot, uint64_t slot_ns, uint64_t count) {
    emit_not_sent(pinger, target, slot_event(target, slot, slot_ns, ETIME, count));
}

void cping__no_memory(cping *pinger, cping__target *target, uint64_t slot, uint64_t slot_ns) {
    emit_not_sent(pinger, target, slot_event(target, slot, slot_ns, ENOMEM, 1));
    if (cping__floods(target)) cping__flood_hold(target, slot_ns);
}

void cping__cancel(cping *pinger, cping__ping *ping) {
    cping_event event = cping__event(ping->target, ping, CPING_CANCELLED);
    COUNT_BOTH(pinger, ping->target, cancelled, 1);
    cping__emit(pinger, &event);
    settle(pinger, ping, CPING__LOST);
}

void cping__explained(cping__ping *ping) {
    if (ping->state == CPING__LOST) change_state(ping, CPING__FAILED);
}

void cping__forget(cping *pinger, cping__ping *ping) {
    TAILQ_REMOVE(&pinger->finished, ping, link);
    pinger->remembered--;
    ping->target->remembered--;
    ping->target->unexplained -= ping->state == CPING__LOST;
    cping__place_leave(pinger, ping);
    cping__pending_remove(&pinger->pending, ping);
}
