/* The progress of a target: pings under way, its next deadline, its end. */
#include "engine.h"

static uint64_t next_slot(const cping__target *target) {
    if (cping__floods(target)) return cping__flood_next(target);
    return target->phase == CPING__RUNNING ? cping__grid_time(&target->grid, target->grid.next) : CPING__NEVER;
}

void cping__target_changed(cping *pinger, cping__target *target) {
    if (target->phase == CPING__STOPPED && target->open == 0) {
        target->phase = CPING__FINISHED;
        cping_event event = cping__event(target, NULL, CPING_FINISHED);
        cping__emit(pinger, &event);
    }
    if (cping__floods(target)) cping__flood_changed(target);
    uint64_t due = next_slot(target);
    const cping__ping *oldest = TAILQ_FIRST(&target->open_pings);
    /* A reply after exactly the timeout is in time. */
    uint64_t deadline = oldest ? oldest->sent.clocks.late_ns + target->config.timeout_ns + 1 : CPING__NEVER;
    if (deadline < due) due = deadline;
    /* The oldest ping of a flood changes constantly. An entry that is due too early is then set again. */
    if (cping__floods(target) && target->entry.place && target->entry.time_ns <= due) return;
    cping__agenda_set(&pinger->agenda, &target->entry, due);
}

void cping__opened(cping__target *target) {
    target->open++;
    if (cping__floods(target)) target->channel->flood_open++;
}

void cping__closed(cping__target *target) {
    target->open--;
    if (cping__floods(target)) target->channel->flood_open--;
}
