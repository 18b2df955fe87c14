/* Ring, schedule, pending table, stamps and addresses, each alone. */
#include <errno.h>
#include <pthread.h>

#include "clock.h"
#include "pending.h"
#include "ring.h"
#include "schedule.h"
#include "stamps.h"
#include "support.h"

static void ring_counts_what_it_drops(void) {
    cping__ring ring;
    cping_event read[8];
    CHECK_EQUAL(cping__ring_create(&ring, 3), 0);
    CHECK_EQUAL(ring.capacity, 4);
    for (uint64_t i = 0; i < 4; i++) CHECK_EQUAL(cping__ring_write(&ring, &(cping_event){.slot = i}), 1);
    for (uint64_t i = 4; i < 9; i++) CHECK_EQUAL(cping__ring_write(&ring, &(cping_event){.slot = i}), 0);
    CHECK_EQUAL(cping__ring_report(&ring), 0);
    CHECK_EQUAL(cping__ring_read(&ring, read, 2), 2);
    CHECK_EQUAL(cping__ring_write(&ring, &(cping_event){.slot = 9}), 1);
    CHECK_EQUAL(cping__ring_read(&ring, read, 8), 4);
    CHECK_EQUAL(read[2].kind, CPING_OVERFLOW);
    CHECK_EQUAL(read[2].count, 5);
    CHECK_EQUAL(read[3].slot, 9);
    CHECK_EQUAL(cping__ring_read(&ring, read, 8), 0);
    cping__ring_destroy(&ring);
    CHECK_EQUAL(cping__ring_create(&ring, (1u << 20) + 1), -EINVAL);
}

enum { MANY = 200000 };

static void *write_many(void *ring) {
    for (uint64_t i = 0; i < MANY; i++) {
        /* Wait while the ring is full, so that nothing is dropped. */
        while (cping__ring_count(ring) == 64) {}
        cping__ring_write(ring, &(cping_event){.slot = i, .sent_ns = ~i});
    }
    return NULL;
}

/*  writer   | reader          The ring stays full most of the time; order and content must hold.
 *  write i  | read i, check */
static void ring_keeps_order_between_threads(void) {
    cping__ring ring;
    pthread_t writer;
    uint64_t expected = 0;
    CHECK_EQUAL(cping__ring_create(&ring, 64), 0);
    CHECK_EQUAL(pthread_create(&writer, NULL, write_many, &ring), 0);
    while (expected < MANY) {
        cping_event events[7];
        size_t count = cping__ring_read(&ring, events, 7);
        for (size_t i = 0; i < count; i++, expected++) {
            CHECK_EQUAL(events[i].slot, expected);
            CHECK(events[i].sent_ns == ~expected);
        }
    }
    pthread_join(writer, NULL);
    cping__ring_destroy(&ring);
}

static void grid_never_drifts_nor_catches_up(void) {
    cping__grid grid = {.first_ns = 1000, .interval_ns = 100};
    CHECK_EQUAL(cping__grid_due(&grid, 999), 0);
    CHECK_EQUAL(cping__grid_due(&grid, 1000), 1);
    CHECK_EQUAL(cping__grid_due(&grid, 1099), 1);
    CHECK_EQUAL(cping__grid_due(&grid, 1100), 2);
    CHECK_EQUAL(cping__grid_due(&grid, 101000), 1001);
    grid.next = 5;
    CHECK_EQUAL(cping__grid_time(&grid, grid.next), 1500);
}

static void agenda_is_in_order(void) {
    enum { COUNT = 200 };
    cping__agenda agenda = {0};
    cping__entry entries[COUNT] = {0};
    uint32_t random = 12345;
    CHECK_EQUAL(cping__agenda_reserve(&agenda, COUNT), 0);
    for (int round = 0; round < 20000; round++) {
        random = random * 1664525 + 1013904223;
        cping__entry *entry = &entries[(random >> 8) % COUNT];
        cping__agenda_set(&agenda, entry, random % 7 == 0 ? CPING__NEVER : random >> 4);
        uint64_t least = CPING__NEVER;
        for (int i = 0; i < COUNT; i++) {
            if (entries[i].place && entries[i].time_ns < least) least = entries[i].time_ns;
        }
        cping__entry *first = cping__agenda_first(&agenda);
        CHECK(first ? first->time_ns == least : least == CPING__NEVER);
    }
    cping__agenda_destroy(&agenda);
}

static void pending_is_found_by_sequence_and_bounded(void) {
    cping__pending pending = {0};
    uint32_t first = UINT32_MAX - 100;  /* so that it wraps */
    CHECK(cping__pending_find(&pending, 1) == NULL);
    for (uint32_t i = 0; i < CPING__PENDING_LIMIT; i++) CHECK(cping__pending_add(&pending, first + i) != NULL);
    CHECK(cping__pending_add(&pending, 7) == NULL);
    for (uint32_t i = 0; i < CPING__PENDING_LIMIT; i++) {
        cping__ping *ping = cping__pending_find(&pending, first + i);
        CHECK(ping && ping->sequence == first + i);
        if (i % 2) cping__pending_remove(&pending, ping);
    }
    CHECK(cping__pending_find(&pending, first + 1) == NULL);
    CHECK(cping__pending_find(&pending, first + 2) != NULL);
    CHECK_EQUAL(pending.count, CPING__PENDING_LIMIT / 2);
    CHECK(cping__pending_add(&pending, first + 1) != NULL);
    cping__pending_destroy(&pending);
}

static cping__moment moment(uint64_t boot_ns, int64_t offset_ns, int64_t kernel_ns) {
    cping__reading clocks = {.early_ns = boot_ns, .late_ns = boot_ns, .offset_ns = offset_ns, .width_ns = 100};
    return (cping__moment){.clocks = clocks, .kernel_ns = kernel_ns};
}

static void check_figure(cping__moment sent, cping__moment received, int64_t rtt, int stamp, uint32_t flags) {
    cping__figure figure = cping__measure(&sent, &received);
    CHECK_EQUAL(figure.rtt_ns, rtt);
    CHECK_EQUAL(figure.stamp, stamp);
    CHECK_EQUAL(figure.flags, flags);
    CHECK_EQUAL(figure.bound_ns, 30000000);
}

static void clocks_are_never_mixed(void) {
    const int64_t ms = 1000000, wall = 1700000000000 * ms;
    cping__moment sent = moment(1000, wall, wall + 5000);
    cping__moment unstamped = moment(1000, wall, 0);
    uint64_t end = 1000 + 30000000;
    check_figure(sent, moment(end, wall, wall + 29 * ms), 29 * ms - 5000, CPING_STAMP_KERNEL, 0);
    check_figure(unstamped, moment(end, wall, wall + 29 * ms), 30 * ms, CPING_STAMP_CLOCK, CPING_FLAG_NO_SEND_STAMP);
    check_figure(sent, moment(end, wall, 0), 30 * ms, CPING_STAMP_CLOCK, CPING_FLAG_NO_RECEIVE_STAMP);
    /* While the ping is under way, the wall clock is set back by 10 ms, forward by an hour, or back by an hour. */
    check_figure(sent, moment(end, wall - 10 * ms, wall + 19 * ms), 30 * ms, CPING_STAMP_CLOCK, CPING_FLAG_CLOCK_STEP);
    check_figure(sent, moment(end, wall + 3600000 * ms, wall + 3600029 * ms), 30 * ms, CPING_STAMP_CLOCK,
                 CPING_FLAG_CLOCK_STEP);
    check_figure(sent, moment(end, wall - 3600000 * ms, wall - 3599971 * ms), 30 * ms, CPING_STAMP_CLOCK,
                 CPING_FLAG_CLOCK_STEP);
    /* Impossible stamps. */
    check_figure(sent, moment(end, wall, wall + 4000), 30 * ms, CPING_STAMP_CLOCK, CPING_FLAG_STAMPS_ABSURD);
    check_figure(sent, moment(end, wall, wall + 40 * ms), 30 * ms, CPING_STAMP_CLOCK, CPING_FLAG_STAMPS_ABSURD);
}

static void addresses_are_read_and_written(void) {
    static const char *const good[] = {"192.0.2.1", "::1", "2001:db8::10", "fe80::1%lo",
                                       "fe80::1%4294967295"};
    static const char *const bad[] = {"", "localhost", "1.2.3", "1.2.3.4.5", "::g", "fe80::1%", "fe80::1%nosuch0",
                                      "fe80::1%+1", "fe80::1% 1", "fe80::1%-1", "fe80::1%0", "fe80::1%1x", "fe80::1%4294967296",
                                      "fe80::1%18446744073709551617"};
    cping_address address;
    char text[64];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK_EQUAL(cping_address_parse(&address, good[i], 9), 0);
        CHECK_EQUAL(address.port, 9);
        CHECK(strcmp(cping_address_format(&address, text, sizeof text), good[i]) == 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) CHECK_EQUAL(cping_address_parse(&address, bad[i], 9), -EINVAL);
}

int main(void) {
    ring_counts_what_it_drops();
    ring_keeps_order_between_threads();
    grid_never_drifts_nor_catches_up();
    agenda_is_in_order();
    pending_is_found_by_sequence_and_bounded();
    clocks_are_never_mixed();
    addresses_are_read_and_written();
    return 0;
}
