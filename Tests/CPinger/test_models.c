/* Ring, schedule, pending table, directory of commands and addresses in random orders, each compared with a slow, simple model. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "clock.h"
#include "mailbox.h"
#include "pending.h"
#include "ring.h"
#include "schedule.h"
#include "support.h"

enum { STEPS = 40000 };

/* The seed of a run is printed, so that TEST_SEED can repeat a failure. */
static uint64_t state;

static uint32_t dice(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % below);
}

/* The reader gets the written events in order; events that did not fit are counted once, and reported at their place. */
static void ring_loses_nothing_unnoticed(void) {
    for (uint32_t capacity = 1; capacity <= 64; capacity *= 4) {
        cping__ring ring;
        uint64_t next = 0, seen = 0, dropped = 0;
        CHECK_EQUAL(cping__ring_create(&ring, capacity), 0);
        for (int step = 0; step < STEPS; step++) {
            /* Write more than is read, so that the ring is full most of the time. */
            if (dice(4)) {
                cping__ring_report(&ring);
                cping__ring_write(&ring, &(cping_event){.kind = CPING_ANSWERED, .slot = next++});
                continue;
            }
            cping_event events[3];
            size_t count = cping__ring_read(&ring, events, 1 + dice(3));
            for (size_t i = 0; i < count; i++) {
                if (events[i].kind == CPING_OVERFLOW) {
                    CHECK(events[i].count > 0);
                    dropped += events[i].count;
                    seen += events[i].count;
                } else {
                    CHECK_EQUAL(events[i].slot, seen);
                    seen++;
                }
            }
        }
        cping_event rest[64];
        for (size_t count; cping__ring_report(&ring) || cping__ring_count(&ring);) {
            count = cping__ring_read(&ring, rest, 64);
            for (size_t i = 0; i < count; i++) seen += rest[i].kind == CPING_OVERFLOW ? rest[i].count : 1;
        }
        CHECK_EQUAL(seen, next);
        CHECK(dropped > 0);
        cping__ring_destroy(&ring);
    }
}

enum { ENTRIES = 50 };

/* The first entry of the agenda is never later than any other, and every scheduled entry comes once. */
static void agenda_is_never_late(void) {
    cping__agenda agenda = {0};
    cping__entry entries[ENTRIES] = {{0}};
    uint64_t times[ENTRIES];
    CHECK_EQUAL(cping__agenda_reserve(&agenda, ENTRIES), 0);
    for (int i = 0; i < ENTRIES; i++) {
        entries[i].time_ns = CPING__NEVER;
        times[i] = CPING__NEVER;
    }
    for (int step = 0; step < STEPS; step++) {
        uint32_t which = dice(ENTRIES);
        /* Many at the same time, some at the limits of time, some unscheduled. */
        uint64_t choices[] = {dice(20), dice(1000), 0, CPING__NEVER - 1, CPING__NEVER, CPING__NEVER};
        times[which] = choices[dice(6)];
        cping__agenda_set(&agenda, &entries[which], times[which]);
        uint64_t least = CPING__NEVER;
        size_t count = 0;
        for (int i = 0; i < ENTRIES; i++) {
            if (times[i] < least) least = times[i];
            if (times[i] != CPING__NEVER) count++;
            CHECK_EQUAL(entries[i].place != 0, times[i] != CPING__NEVER);
        }
        cping__entry *first = cping__agenda_first(&agenda);
        CHECK_EQUAL(agenda.count, count);
        CHECK((first ? first->time_ns : CPING__NEVER) == least);
    }
    uint64_t before = 0;
    for (cping__entry *first; (first = cping__agenda_first(&agenda));) {
        CHECK(first->time_ns >= before);
        before = first->time_ns;
        cping__agenda_set(&agenda, first, CPING__NEVER);
    }
    for (int i = 0; i < ENTRIES; i++) CHECK_EQUAL(entries[i].place, 0);
    cping__agenda_destroy(&agenda);
}

/* Slots lie on the grid at any delay, and each is used at most once. */
static void grid_counts_every_slot(void) {
    for (int round = 0; round < 200; round++) {
        cping__grid grid = {.first_ns = dice(1000), .interval_ns = 1 + dice(500)};
        uint64_t now = 0, next = 0;
        for (int step = 0; step < 200; step++) {
            now += dice(2) ? dice(3) : dice(5000);
            uint64_t due = cping__grid_due(&grid, now), expected = 0;
            while (grid.first_ns + (next + expected) * grid.interval_ns <= now) expected++;
            CHECK_EQUAL(due, expected);
            if (due && dice(2)) grid.next++, next++;
            CHECK_EQUAL(grid.next, next);
        }
    }
}

enum { PINGS = 300 };

/* Sequences come in order, as a pinger uses them, and are forgotten in any order. */
static void pending_finds_stored_pings(void) {
    cping__pending pending = {0};
    cping__ping *pings[PINGS] = {0};
    uint32_t sequence = UINT32_MAX - STEPS / 4; /* so that it wraps */
    size_t count = 0;
    for (int step = 0; step < STEPS; step++) {
        uint32_t which = dice(PINGS);
        if (pings[which]) {
            uint32_t gone = pings[which]->sequence;
            CHECK(cping__pending_find(&pending, gone) == pings[which]);
            cping__pending_remove(&pending, pings[which]);
            CHECK(cping__pending_find(&pending, gone) == NULL);
            pings[which] = NULL;
            count--;
        } else {
            pings[which] = cping__pending_add(&pending, sequence);
            CHECK(pings[which] != NULL);
            CHECK_EQUAL(pings[which]->sequence, sequence);
            /* The earlier content is cleared. */
            CHECK(pings[which]->target == NULL && pings[which]->slot == 0 && pings[which]->state == 0);
            pings[which]->slot = sequence++;
            pings[which]->state = CPING__LOST;
            count++;
        }
        CHECK_EQUAL(pending.count, count);
        uint32_t other = dice(PINGS);
        if (pings[other]) CHECK(cping__pending_find(&pending, (uint32_t)pings[other]->slot) == pings[other]);
    }
    CHECK(pending.capacity <= 1024);
    cping__pending_destroy(&pending);
}

static int64_t add_up(cping *pinger, const cping__command *command) {
    (void)pinger;
    return command->target + (int64_t)command->time_ns;
}

enum { CALLERS = 4, CALLS = 2000 };

static void *call_often(void *mailbox) {
    intptr_t answered = 0;
    for (int i = 0; i < CALLS; i++) {
        cping__command command = {.run = add_up, .target = i, .time_ns = 7};
        int64_t result = cping__mailbox_call(mailbox, command);
        if (result == -ESHUTDOWN) continue;
        CHECK_EQUAL(result, i + 7);
        answered++;
    }
    return (void *)answered;
}

/*  callers       | pinger                 Each caller gets the answer to its own command; after the closing,
 *  call, wait    | run, run, ... close    all get -ESHUTDOWN, and no caller waits forever. */
static void commands_are_answered(void) {
    cping__mailbox mailbox;
    pthread_t callers[CALLERS];
    intptr_t answered = 0;
    CHECK_EQUAL(cping__mailbox_create(&mailbox), 0);
    for (int i = 0; i < CALLERS; i++) CHECK_EQUAL(pthread_create(&callers[i], NULL, call_often, &mailbox), 0);
    for (int i = 0; i < CALLS; i++) cping__mailbox_run(&mailbox, NULL);
    cping__mailbox_close(&mailbox);
    for (int i = 0; i < CALLERS; i++) {
        void *count;
        CHECK_EQUAL(pthread_join(callers[i], &count), 0);
        answered += (intptr_t)count;
    }
    CHECK(answered <= CALLERS * CALLS);
    CHECK_EQUAL(cping__mailbox_call(&mailbox, (cping__command){.run = add_up}), -ESHUTDOWN);
    cping__mailbox_destroy(&mailbox);
}

/* The text of an address parses to the same address; random text is rejected, or parses to such an address. */
static void addresses_survive_their_text(void) {
    static const char letters[] = "0123456789abcdefABCDEF:.%x[]/ -";
    for (int step = 0; step < STEPS; step++) {
        char text[48], again[64];
        size_t length = dice(sizeof text);
        for (size_t i = 0; i < length; i++) text[i] = letters[dice(step % 2 ? 17 : sizeof letters - 1)];
        text[length] = 0;
        cping_address address, same;
        if (cping_address_parse(&address, text, 7) != 0) continue;
        cping_address_format(&address, again, sizeof again);
        CHECK_EQUAL(cping_address_parse(&same, again, 7), 0);
        CHECK(address.family == same.family && address.scope_id == same.scope_id);
        CHECK(memcmp(address.bytes, same.bytes, address.family == 6 ? 16 : 4) == 0);
    }
    for (int step = 0; step < STEPS; step++) {
        cping_address address = {.family = dice(2) ? 4 : 6, .port = 9}, same;
        char text[64];
        for (int i = 0; i < (address.family == 6 ? 16 : 4); i++) address.bytes[i] = dice(3) ? 0 : (uint8_t)dice(256);
        cping_address_format(&address, text, sizeof text);
        CHECK_EQUAL(cping_address_parse(&same, text, 9), 0);
        CHECK(memcmp(address.bytes, same.bytes, address.family == 6 ? 16 : 4) == 0);
        /* A short buffer truncates the text, and nothing is written behind it. */
        char small[5] = "....";
        cping_address_format(&address, small, 4);
        CHECK_EQUAL(small[4], 0);
        CHECK(strlen(small) < 5);
    }
}

int main(void) {
    const char *seed = getenv("TEST_SEED");
    state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    printf("TEST_SEED=%llu\n", (unsigned long long)state);
    ring_loses_nothing_unnoticed();
    agenda_is_never_late();
    grid_counts_every_slot();
    pending_finds_stored_pings();
    commands_are_answered();
    addresses_survive_their_text();
    return 0;
}
