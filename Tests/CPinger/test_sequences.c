/* Sequences after half of all numbers, and earlier addresses of a target. The test sets the pinger's sequence. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bytes.h"
#include "engine.h"
#include "oneway.h"
#include "support.h"

enum { TIMEOUT_MS = 2000 };

struct far {
    int socket;
    cping_address address;
    struct sockaddr_in from;
    uint8_t request[128];
    size_t length;
};

struct scene {
    cping *pinger;
    struct outcome o;
};

static struct far open_far(void) {
    struct far far = {.socket = socket(AF_INET, SOCK_DGRAM, 0)};
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof local;
    CHECK(bind(far.socket, (struct sockaddr *)&local, sizeof local) == 0);
    CHECK(getsockname(far.socket, (struct sockaddr *)&local, &length) == 0);
    CHECK_EQUAL(cping_address_parse(&far.address, "127.0.0.1", ntohs(local.sin_port)), 0);
    return far;
}

static struct scene begin(void) {
    struct scene s = {0};
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS}, &s.pinger), 0);
    return s;
}

static void work(struct scene *s) {
    cping_event events[16];
    CHECK(cping_wait(s->pinger, 1) >= 0);
    size_t count = cping_read(s->pinger, events, 16);
    for (size_t i = 0; i < count; i++) collect(&s->o, &events[i]);
}

static int64_t start(struct scene *s, cping_target target) {
    int64_t id = cping_add(s->pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(s->pinger, id, 0), 0);
    return id;
}

/* Without a count: a busy machine can miss a slot. */
static cping_target target_at(const struct far *far) {
    cping_target target = rtr_target("127.0.0.1", far->address.port, 0);
    target.timeout_ns = TIMEOUT_MS * UINT64_C(1000000);
    return target;
}

/* At most `window` pings under way; no slots that could be missed. */
static cping_target flood_at(const struct far *far, uint32_t window) {
    cping_target target = target_at(far);
    target.flags = CPING_TARGET_FLOOD;
    target.interval_ns = 0;
    target.window = window;
    return target;
}

static cping_target_info inspect(const struct scene *s, int64_t id) {
    cping_target_info info;
    CHECK_EQUAL(cping_inspect(s->pinger, id, &info), 0);
    return info;
}

static void receive(struct scene *s, struct far *far) {
    for (;;) {
        socklen_t size = sizeof far->from;
        ssize_t length = recvfrom(far->socket, far->request, sizeof far->request, MSG_DONTWAIT, (struct sockaddr *)&far->from,
                                  &size);
        if (length >= 0) {
            far->length = (size_t)length;
            return;
        }
        work(s);
    }
}

static void send_back(const struct far *far, const uint8_t *bytes, size_t length) {
    CHECK(sendto(far->socket, bytes, length, 0, (const struct sockaddr *)&far->from, sizeof far->from) == (ssize_t)length);
}

static void answer(const struct far *far, const uint8_t *request) {
    uint8_t reply[8];
    memcpy(reply, "RR01", 4);
    memcpy(reply + 4, request + 4, 4);
    send_back(far, reply, 8);
}

static void exchange(struct scene *s, struct far *far) {
    unsigned answered = s->o.answered;
    receive(s, far);
    answer(far, far->request);
    while (s->o.answered == answered) {
        CHECK_EQUAL(s->o.lost, 0);
        work(s);
    }
}

/* The first ping may have left before a change; the second leaves after it. */
static void exchange_twice(struct scene *s, struct far *far) {
    exchange(s, far);
    exchange(s, far);
}

static void end(struct scene *s) {
    cping_destroy(s->pinger);
}

/* ---- Redirected targets ---- */

static void when_half_of_all_sequences_passed_then_a_redirected_target_is_still_answered(void) {
    struct far first = open_far(), second = open_far();
    struct scene s = begin();
    int64_t id = start(&s, flood_at(&first, 1));
    receive(&s, &first);
    CHECK_EQUAL(cping_redirect(s.pinger, id, &second.address), 0);
    answer(&first, first.request);
    exchange(&s, &second);
    s.pinger->sequence += UINT32_C(0x80000000);
    exchange_twice(&s, &second);
    s.pinger->sequence += UINT32_C(0x7fffff00);
    exchange_twice(&s, &second);
    while (s.o.answered < 6) work(&s);
    CHECK_EQUAL(inspect(&s, id).reordered, 0);
    end(&s);
    close(first.socket);
    close(second.socket);
}

/*  ping 0 to A | redirect to B | ping 1 to B | redirect to C | ping 2 to C | A, B and C answer */
static void when_redirected_twice_within_a_timeout_then_each_address_answers_its_own_ping(void) {
    struct far fars[3] = {open_far(), open_far(), open_far()};
    struct scene s = begin();
    int64_t id = start(&s, target_at(&fars[0]));
    for (int i = 0; i < 3; i++) {
        if (i) CHECK_EQUAL(cping_redirect(s.pinger, id, &fars[i].address), 0);
        receive(&s, &fars[i]);
    }
    /* An answer from an address to which its ping was not sent is foreign. */
    answer(&fars[2], fars[0].request);
    for (int i = 0; i < 3; i++) answer(&fars[i], fars[i].request);
    while (s.o.answered < 3) work(&s);
    CHECK_EQUAL(inspect(&s, id).duplicates, 0);
    cping_stats stats;
    cping_get_stats(s.pinger, &stats);
    CHECK_EQUAL(stats.unknown_sequence, 1);
    /* Late answers count too, while their pings are remembered. */
    answer(&fars[0], fars[0].request);
    while (s.o.duplicates == 0) work(&s);
    end(&s);
    for (int i = 0; i < 3; i++) close(fars[i].socket);
}

/* To and fro, more often than there are pings: addresses without a ping are released. */
static void when_redirected_to_and_fro_then_answers_are_found(void) {
    struct far fars[2] = {open_far(), open_far()};
    struct scene s = begin();
    int64_t id = start(&s, target_at(&fars[0]));
    uint8_t requests[40][24];
    for (int i = 0; i < 40; i++) {
        receive(&s, &fars[i % 2]);
        memcpy(requests[i], fars[i % 2].request, 24);
        for (int j = 0; j < 2; j++) CHECK_EQUAL(cping_redirect(s.pinger, id, &fars[i % 2].address), 0);
        CHECK_EQUAL(cping_redirect(s.pinger, id, &fars[(i + 1) % 2].address), 0);
    }
    for (int i = 0; i < 40; i++) answer(&fars[i % 2], requests[i]);
    while (s.o.answered < 40) work(&s);
    CHECK_EQUAL(cping_remove(s.pinger, id), 0);
    end(&s);
    for (int i = 0; i < 2; i++) close(fars[i].socket);
}

/* ---- Order ---- */

static void when_others_used_half_of_all_sequences_then_nothing_is_reordered(void) {
    struct far far = open_far();
    struct scene s = begin();
    int64_t id = start(&s, flood_at(&far, 1));
    for (int i = 0; i < 6; i++) {
        exchange_twice(&s, &far);
        s.pinger->sequence += UINT32_C(0x80000001);
    }
    CHECK_EQUAL(inspect(&s, id).reordered, 0);
    end(&s);
    close(far.socket);
}

static void when_a_sequence_is_still_in_use_then_it_is_skipped(void) {
    struct far slow = open_far(), quick = open_far();
    struct scene s = begin();
    int64_t waiting = start(&s, flood_at(&slow, 1));
    receive(&s, &slow);
    /* As if four thousand million pings later. */
    s.pinger->sequence -= 2;
    int64_t id = start(&s, flood_at(&quick, 1));
    for (int i = 0; i < 3; i++) {
        exchange(&s, &quick);
        CHECK(memcmp(quick.request + 4, slow.request + 4, 4) != 0);
    }
    answer(&slow, slow.request);
    while (s.o.answered < 4) work(&s);
    CHECK_EQUAL(inspect(&s, waiting).answered, 1);
    CHECK_EQUAL(inspect(&s, id).answered, 3);
    end(&s);
    close(slow.socket);
    close(quick.socket);
}

/* ---- One-way ---- */

static void answer_oneway(struct far *far, uint64_t history, uint32_t received, uint32_t flags) {
    cping__oneway_make_reply(far->request, far->length,
                             &(cping__oneway){.history = history, .received = received, .sent = received, .flags = flags});
    send_back(far, far->request, far->length);
}

static void change(cping *pinger, enum cping__phase phase) {
    pinger->targets[0]->phase = phase;
    cping__target_changed(pinger, pinger->targets[0]);
}

/* Pairs of pings: the first is lost, and the answer to the second shows in which direction, even after half of all numbers. */
static void when_half_of_all_numbers_passed_then_the_direction_of_a_loss_is_known(void) {
    static const uint32_t steps[] = {0, UINT32_C(0x80000000), UINT32_C(0x7fffff00), UINT32_C(0x40000000)};
    struct far far = open_far();
    struct scene s = begin();
    cping_target config = flood_at(&far, 2);
    config.protocol = CPING_ONEWAY;
    config.timeout_ns = 150000000;
    int64_t id = start(&s, config);
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        s.pinger->targets[0]->number += steps[i];
        change(s.pinger, CPING__RUNNING);
        receive(&s, &far);
        receive(&s, &far);
        change(s.pinger, CPING__IDLE);
        answer_oneway(&far, 0, i + 1, 0);
        while (s.o.lost <= i) work(&s);
        CHECK_EQUAL(s.o.answered, i + 1);
        CHECK_EQUAL(inspect(&s, id).lost_up, i + 1);
        CHECK_EQUAL(inspect(&s, id).far_received, i + 1);
    }
    end(&s);
    close(far.socket);
}

/* One absurd counter of the far side does not block later counters. */
static void when_the_far_side_sends_one_absurd_counter_then_later_ones_are_used(void) {
    struct far far = open_far();
    struct scene s = begin();
    cping_target config = flood_at(&far, 1);
    config.protocol = CPING_ONEWAY;
    int64_t id = start(&s, config);
    receive(&s, &far);
    answer_oneway(&far, 0, UINT32_C(0x7fffffff), 0);
    receive(&s, &far);
    answer_oneway(&far, 1, 2, 0);
    while (s.o.answered < 2) work(&s);
    CHECK_EQUAL(inspect(&s, id).far_received, 2);
    end(&s);
    close(far.socket);
}

int main(void) {
    when_half_of_all_sequences_passed_then_a_redirected_target_is_still_answered();
    when_redirected_twice_within_a_timeout_then_each_address_answers_its_own_ping();
    when_redirected_to_and_fro_then_answers_are_found();
    when_others_used_half_of_all_sequences_then_nothing_is_reordered();
    when_a_sequence_is_still_in_use_then_it_is_skipped();
    when_half_of_all_numbers_passed_then_the_direction_of_a_loss_is_known();
    when_the_far_side_sends_one_absurd_counter_then_later_ones_are_used();
    return 0;
}
