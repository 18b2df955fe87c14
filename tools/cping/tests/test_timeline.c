#include "timeline.h"

#include "check.h"

enum { STEP = 100 };

static timeline fresh(void) {
    return (timeline){.threshold = 3};
}

static void note(timeline *t, uint64_t slot, int64_t rtt_ns) {
    timeline_note(t, slot, (moment){.slot_ns = 1000 + slot * STEP, .rtt_ns = rtt_ns});
}

static void variation_is_between_neighbours(void) {
    timeline t = fresh();
    note(&t, 0, 10);
    note(&t, 1, 14);
    note(&t, 2, MOMENT_UNANSWERED);
    note(&t, 3, 90);
    note(&t, 4, 89);
    note(&t, 5, MOMENT_REFUSED);
    note(&t, 6, 5);
    CHECK_EQUAL(t.variation.count, 2);  /* 14 - 10 and 89 - 90 */
    CHECK_EQUAL(t.variation.min, 1);
    CHECK_EQUAL(t.variation.max, 4);
    CHECK_EQUAL(t.count, 0);
    timeline_clear(&t);
}

static void order_of_arrival_does_not_matter(void) {
    timeline t = fresh();
    note(&t, 2, 30);
    note(&t, 1, 20);
    CHECK_EQUAL(t.variation.count, 0);
    note(&t, 0, 17);
    CHECK_EQUAL(t.variation.count, 2);
    CHECK_EQUAL(t.variation.min, 3);
    CHECK_EQUAL(t.variation.max, 10);
    timeline_clear(&t);
}

static void outages(void) {
    timeline t = fresh();
    note(&t, 0, 1);
    note(&t, 1, MOMENT_UNANSWERED);
    note(&t, 2, MOMENT_UNANSWERED);
    note(&t, 3, 1);  /* two are none */
    note(&t, 7, 1);  /* answered before the ones before it are given up */
    for (uint64_t slot = 4; slot < 7; slot++) note(&t, slot, MOMENT_UNANSWERED);
    CHECK_EQUAL(t.count, 1);
    CHECK_EQUAL(t.outages[0].start_ns, 1400);
    CHECK_EQUAL(t.outages[0].length_ns, 300);
    CHECK_EQUAL(t.outages[0].pings, 3);
    timeline_missed(&t, 8, 1800, STEP, 10);
    CHECK_EQUAL(timeline_open_outage(&t, 3000).length_ns, 1200);
    CHECK(timeline_open_outage(&t, 3000).is_open);
    note(&t, 18, 1);
    CHECK_EQUAL(t.count, 2);
    CHECK_EQUAL(t.longest_ns, 1000);
    CHECK_EQUAL(t.total_ns, 1300);
    CHECK(!timeline_open_outage(&t, 3000).is_open);
    timeline_clear(&t);
}

static void many_outages_are_counted_and_some_listed(void) {
    timeline t = fresh();
    for (uint64_t slot = 0; slot < 4 * 150; slot++) note(&t, slot, slot % 4 == 3 ? 1 : MOMENT_UNANSWERED);
    CHECK_EQUAL(t.count, 150);
    CHECK_EQUAL(t.listed, TIMELINE_LISTED);
    timeline_clear(&t);
}

/* One ping without a verdict, a million after it. */
static void memory_is_bounded(void) {
    timeline t = fresh();
    note(&t, 0, 5);
    for (uint64_t slot = 2; slot < 1000000; slot++) note(&t, slot, 5);
    CHECK(t.capacity <= TIMELINE_LIMIT);
    CHECK_EQUAL(t.base, 1000000);
    note(&t, 1, 5);  /* too late to matter */
    CHECK_EQUAL(t.variation.count, 1000000 - 3);
    timeline_clear(&t);
}

static void way(timeline *t, uint64_t slot, int64_t up_ns, int64_t down_ns, int is_far_restarted) {
    timeline_note(t, slot, (moment){.slot_ns = slot + 1, .rtt_ns = 5, .up_ns = up_ns, .down_ns = down_ns,
                                    .is_far_restarted = is_far_restarted});
}

/* It may jump anywhere, and begin anew after a restart. */
static void a_far_clock_is_not_believed(void) {
    timeline t = fresh();
    way(&t, 0, 100, 200, 0);
    way(&t, 1, 103, 200, 0);
    way(&t, 2, INT64_MIN, INT64_MAX, 0);
    way(&t, 3, INT64_MAX, INT64_MIN, 0);
    way(&t, 4, 103, 200, 1);
    way(&t, 5, 104, 200, 0);
    CHECK_EQUAL(t.up.count, 2);
    CHECK_EQUAL(t.up.max, 3);
    CHECK_EQUAL(t.down.max, 0);
    CHECK_EQUAL(t.variation.count, 5);
    timeline_clear(&t);
}

int main(void) {
    variation_is_between_neighbours();
    order_of_arrival_does_not_matter();
    outages();
    many_outages_are_counted_and_some_listed();
    memory_is_bounded();
    a_far_clock_is_not_believed();
    return 0;
}
