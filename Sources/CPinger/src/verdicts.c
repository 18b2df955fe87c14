#include "engine.h"

#include <errno.h>

static uint64_t deadline(const cping__target *target, const cping__ping *ping) {
    /* A reply after exactly the timeout is in time. */
    return ping->sent.clocks.late_ns + target->config.timeout_ns + 1;
}

void cping__target_changed(cping *pinger, cping__target *target) {
    if (target->phase == CPING__STOPPED && target->open == 0) {
        target->phase = CPING__FINISHED;
        cping_event event = cping__event(target, NULL, CPING_FINISHED);
        cping__emit(pinger, &event);
    }
    uint64_t due = CPING__NEVER;
    if (target->phase == CPING__RUNNING) due = cping__grid_time(&target->grid, target->grid.next);
    if (target->oldest_open && deadline(target, target->oldest_open) < due) due = deadline(target, target->oldest_open);
    cping__agenda_set(&pinger->agenda, &target->entry, due);
}

cping_event cping__event(const cping__target *target, const cping__ping *ping, enum cping_kind kind) {
    cping_event event = {.target = target->id, .kind = kind, .event_ns = cping__now(), .rtt_ns = -1, .rtt_bound_ns = -1,
                         .count = 1};
    if (ping) {
        event.slot = ping->slot;
        event.slot_ns = ping->slot_ns;
        event.sent_ns = ping->sent.clocks.late_ns;
        event.sequence = ping->sequence;
    }
    return event;
}

void cping__open(cping *pinger, cping__target *target, cping__ping *ping) {
    TAILQ_INSERT_TAIL(&target->pings, ping, of_target);
    if (!target->oldest_open) target->oldest_open = ping;
    target->open++;
    CPING__COUNT(pinger, sent);
}

static void pass_over_replied(cping__target *target) {
    while (target->oldest_open && target->oldest_open->state != CPING__OPEN) {
        target->oldest_open = TAILQ_NEXT(target->oldest_open, of_target);
    }
}

static void settle(cping *pinger, cping__ping *ping, enum cping__state state) {
    ping->state = state;
    ping->target->open--;
    pass_over_replied(ping->target);
    cping__target_changed(pinger, ping->target);
}

static void note_order(cping *pinger, cping__ping *ping, cping_event *event) {
    cping__target *target = ping->target;
    if (target->any_answered && (int32_t)(target->newest_answered - ping->sequence) > 0) {
        event->flags |= CPING_FLAG_REORDERED;
        CPING__COUNT(pinger, reordered);
        return;
    }
    target->any_answered = 1;
    target->newest_answered = ping->sequence;
}

static void count_stamps(cping *pinger, uint32_t flags) {
    if (flags & CPING_FLAG_NO_SEND_STAMP) CPING__COUNT(pinger, no_send_stamp);
    if (flags & CPING_FLAG_NO_RECEIVE_STAMP) CPING__COUNT(pinger, no_receive_stamp);
    if (flags & CPING_FLAG_STAMPS_ABSURD) CPING__COUNT(pinger, absurd_stamps);
    if (flags & CPING_FLAG_CLOCK_STEP) CPING__COUNT(pinger, clock_steps);
}

static cping_event reply_event(cping *pinger, cping__ping *ping) {
    cping__figure figure = cping__measure(&ping->sent, &ping->received);
    cping_event event = cping__event(ping->target, ping, CPING_ANSWERED);
    event.event_ns = ping->received.clocks.early_ns;
    event.rtt_ns = figure.rtt_ns;
    event.rtt_bound_ns = figure.bound_ns;
    event.send_stamp = event.receive_stamp = figure.stamp;
    event.flags = figure.flags;
    event.from = ping->from;
    count_stamps(pinger, figure.flags);
    return event;
}

static void report_late(cping *pinger, cping__ping *ping, cping_event event) {
    event.kind = CPING_LATE;
    if (ping->refused) event.flags |= CPING_FLAG_REFUSED;
    note_order(pinger, ping, &event);
    ping->state = CPING__ANSWERED;
    CPING__COUNT(pinger, late);
    cping__emit(pinger, &event);
}

static void report_duplicate(cping *pinger, cping__ping *ping, cping_event event) {
    event.kind = CPING_DUPLICATE;
    if (ping->refused) event.flags |= CPING_FLAG_REFUSED;
    CPING__COUNT(pinger, duplicates);
    cping__emit(pinger, &event);
}

static void report_in_time(cping *pinger, cping__ping *ping, cping_event event) {
    event.kind = ping->refused ? CPING_REFUSED : CPING_ANSWERED;
    note_order(pinger, ping, &event);
    if (ping->refused) CPING__COUNT(pinger, refused);
    else CPING__COUNT(pinger, answered);
    cping__emit(pinger, &event);
    settle(pinger, ping, CPING__ANSWERED);
}

static void report(cping *pinger, cping__ping *ping) {
    cping_event event = reply_event(pinger, ping);
    if (ping->state == CPING__ANSWERED) {
        report_duplicate(pinger, ping, event);
    } else if (ping->state == CPING__LOST) {
        report_late(pinger, ping, event);
    } else if (event.rtt_ns <= (int64_t)ping->target->config.timeout_ns) {
        report_in_time(pinger, ping, event);
    } else {
        cping__lost(pinger, ping);
        report_late(pinger, ping, event);
    }
}

void cping__stop_waiting(cping *pinger, cping__ping *ping) {
    TAILQ_REMOVE(&pinger->stamp_waiters, ping, of_stamps);
    report(pinger, ping);
}

void cping__replied(cping *pinger, cping__ping *ping, const cping__datagram *datagram, int refused) {
    if (ping->state == CPING__REPLIED) cping__stop_waiting(pinger, ping);
    ping->received = datagram->at;
    ping->from = datagram->from;
    ping->refused = refused;
    int needs_stamp = ping->sent.kernel_ns == 0 && datagram->at.kernel_ns != 0;
    if (ping->state == CPING__OPEN && needs_stamp) {
        ping->state = CPING__REPLIED;
        TAILQ_INSERT_TAIL(&pinger->stamp_waiters, ping, of_stamps);
        pass_over_replied(ping->target);
    } else {
        report(pinger, ping);
    }
}

void cping__send_stamp(cping *pinger, cping__ping *ping, int64_t stamp_ns) {
    if (ping->sent.kernel_ns == 0) ping->sent.kernel_ns = stamp_ns;
    if (ping->state == CPING__REPLIED) cping__stop_waiting(pinger, ping);
}

void cping__lost(cping *pinger, cping__ping *ping) {
    cping_event event = cping__event(ping->target, ping, CPING_LOST);
    CPING__COUNT(pinger, lost);
    cping__emit(pinger, &event);
    settle(pinger, ping, CPING__LOST);
}

void cping__icmp_error(cping *pinger, cping__ping *ping, const cping__notice *notice) {
    cping_event event = cping__event(ping->target, ping, CPING_ICMP_ERROR);
    event.error = notice->error;
    event.icmp_type = notice->icmp_type;
    event.icmp_code = notice->icmp_code;
    event.from = notice->reporter;
    CPING__COUNT(pinger, icmp_errors);
    cping__emit(pinger, &event);
    settle(pinger, ping, CPING__LOST);
}

void cping__not_sent(cping *pinger, cping__target *target, cping__ping *ping, int error) {
    cping_event event = cping__event(target, ping, CPING_NOT_SENT);
    event.sent_ns = 0;
    event.error = error;
    CPING__COUNT(pinger, not_sent);
    cping__emit(pinger, &event);
}

void cping__missed(cping *pinger, cping__target *target, uint64_t slot, uint64_t slot_ns, uint64_t count) {
    cping_event event = cping__event(target, NULL, CPING_NOT_SENT);
    event.slot = slot;
    event.slot_ns = slot_ns;
    event.error = ETIME;
    event.count = count;
    CPING__COUNT_MANY(pinger, not_sent, count);
    cping__emit(pinger, &event);
}

void cping__cancel(cping *pinger, cping__ping *ping) {
    cping_event event = cping__event(ping->target, ping, CPING_CANCELLED);
    CPING__COUNT(pinger, cancelled);
    cping__emit(pinger, &event);
    settle(pinger, ping, CPING__LOST);
}

void cping__forget(cping *pinger, cping__ping *ping) {
    TAILQ_REMOVE(&ping->target->pings, ping, of_target);
    cping__pending_remove(&pinger->pending, ping);
}
