#include "subject.h"

#include <errno.h>
#include <stdlib.h>

static void note_moment(subject *s, const cping_event *event, int64_t rtt_ns) {
    moment now = {.slot_ns = event->slot_ns, .rtt_ns = rtt_ns};
    if (event->far_stamp != CPING_STAMP_NONE && rtt_ns >= 0) {
        now.up_ns = event->up_ns;
        now.down_ns = event->down_ns;
        now.is_far_restarted = event->far_restarted;
    }
    timeline_note(&s->order, event->slot, now);
}

static void note_reply(subject *s, const cping_event *event) {
    s->answered++;
    histogram_add(&s->rtt, event->rtt_ns);
    note_moment(s, event, event->rtt_ns);
}

static void note_loss(subject *s, const cping_event *event) {
    s->lost++;
    s->lost_up += (event->flags & CPING_FLAG_LOST_UP) != 0;
    s->lost_down += (event->flags & CPING_FLAG_LOST_DOWN) != 0;
    note_moment(s, event, MOMENT_UNANSWERED);
}

static void note_not_sent(subject *s, const cping_event *event) {
    s->not_sent += event->count;
    if (event->count == 1) note_moment(s, event, MOMENT_UNANSWERED);
    else timeline_missed(&s->order, event->slot, event->slot_ns, s->target.interval_ns, event->count);
}

/* A router's error does not show that the target is alive. */
static int is_sign_of_life(const cping_event *event) {
    return event->kind == CPING_ANSWERED || event->kind == CPING_REFUSED || event->kind == CPING_LATE ||
           event->kind == CPING_DUPLICATE;
}

void subject_note(subject *s, const cping_event *event) {
    if (s->is_named && is_sign_of_life(event)) watch_heard(&s->watch, event->event_ns);
    s->sent += event->kind < CPING_LATE && event->sent_ns != 0;
    s->reordered += (event->flags & CPING_FLAG_REORDERED) != 0;
    switch (event->kind) {
    case CPING_ANSWERED: note_reply(s, event); break;
    case CPING_LOST: note_loss(s, event); break;
    case CPING_REFUSED: s->refused++; note_moment(s, event, MOMENT_REFUSED); break;
    case CPING_ICMP_ERROR: s->icmp_errors++; note_moment(s, event, MOMENT_UNANSWERED); break;
    case CPING_NOT_SENT: note_not_sent(s, event); break;
    case CPING_CANCELLED: s->cancelled++; break;
    case CPING_LATE: s->late++; break;
    case CPING_DUPLICATE: s->duplicates++; break;
    case CPING_CORRUPT: s->corrupt++; break;
    case CPING_FINISHED: case CPING_REMOVED: s->is_done = 1; break;
    case CPING_OVERFLOW: break;  /* belongs to no target */
    }
}

double subject_loss_percent(const subject *s) {
    uint64_t gone = s->lost + s->icmp_errors, all = gone + s->answered + s->refused;
    return all ? 100.0 * (double)gone / (double)all : 0;
}

void subject_move(subject *s, const cping_address *to) {
    s->target.destination = *to;
    cping_address_format(to, s->address, sizeof s->address);
}

void subject_clear(subject *s) {
    free(s->name);
    histogram_clear(&s->rtt);
    timeline_clear(&s->order);
}
