/* The progress of a target: pings under way, its next deadline, its end. */
#include "engine.h"

/* ---- Floods ---- */

/* The target's own window: half of it at once makes fewer and larger batches. */
static int has_window(const cping__target *target) {
    return target->is_flooding ? target->open < target->config.window : target->open <= target->config.window / 2;
}

static uint64_t flood_next(const cping__target *target) {
    return target->phase == CPING__RUNNING && target->flood_credit == 0 ? target->flood_ns : CPING__NEVER;
}

static void flood_changed(cping__target *target) {
    int floods = target->phase == CPING__RUNNING && target->flood_credit > 0 && has_window(target);
    if (floods == target->is_flooding) return;
    if (floods) TAILQ_INSERT_TAIL(&target->channel->flooders, target, flooder);
    else TAILQ_REMOVE(&target->channel->flooders, target, flooder);
    target->is_flooding = floods;
}

/* The number of pings that the pace allows now. A backlog of more than a batch is dropped. */
static uint32_t paced_credit(cping__target *target, uint64_t now_ns) {
    uint64_t pace_ns = target->config.interval_ns;
    uint64_t due = (now_ns - target->flood_ns) / pace_ns + 1;
    if (due > CPING__BATCH) {
        due = CPING__BATCH;
        target->flood_ns = now_ns - (CPING__BATCH - 1) * pace_ns;
    }
    target->flood_ns += due * pace_ns;
    return (uint32_t)due;
}

void cping__flood_due(cping__target *target, uint64_t now_ns) {
    if (target->flood_credit > 0 || now_ns < target->flood_ns) return;
    target->flood_credit = cping__is_paced(target) ? paced_credit(target, now_ns) : 1;
}

void cping__flood_hold(cping__target *target, uint64_t now_ns) {
    if (cping__is_paced(target)) return;
    target->flood_credit = 0;
    target->flood_ns = now_ns + CPING__MILLISECOND;
}

/* ---- All targets ---- */

static uint64_t next_slot(const cping__target *target) {
    if (cping__floods(target)) return flood_next(target);
    return target->phase == CPING__RUNNING ? cping__grid_time(&target->grid, target->grid.next) : CPING__NEVER;
}

void cping__target_changed(cping *pinger, cping__target *target) {
    if (target->phase == CPING__STOPPED && target->open == 0) {
        target->phase = CPING__FINISHED;
        cping_event event = cping__event(target, NULL, CPING_FINISHED);
        cping__emit(pinger, &event);
    }
    if (cping__floods(target)) flood_changed(target);
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
