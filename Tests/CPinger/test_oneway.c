/* The one-way format: packets, the far side's counters, loss split into up and down, and the sum of the delays. */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "oneway_responder.c"
#include "support.h"

static void packets_are_as_documented(void) {
    uint8_t packet[80], expected[72];
    cping__oneway_key key = {1, 42, UINT64_C(0x0102030405060708), UINT64_C(0x1112131415161718)}, read;
    CHECK_EQUAL(from_hex("43505131 00000001 01020304 05060708 11121314 15161718 0000002a 00000000 00000000 00000000 00000000"
                         "00000000 00000000 00000000 00000000 00000000 00000000 6ba2100d", expected, 72), 72);
    cping__oneway_encode(packet, 72, &key);
    CHECK(memcmp(packet, expected, 72) == 0);
    CHECK_EQUAL(cping__oneway_parse_request(packet, 72, &read), 0);
    CHECK(memcmp(&read, &key, sizeof key) == 0);
    CHECK_EQUAL(cping__oneway_parse_quote(packet, 28, &read), 0);
    CHECK_EQUAL(cping__oneway_parse_quote(packet, 27, &read), -1);
    CHECK_EQUAL(cping__oneway_parse_request(packet, 71, &read), -1);

    cping__oneway reply = {.key = key, .flags = 3, .receive_ns = 1000000000, .send_ns = 1000050000, .received = 1, .sent = 1};
    CHECK_EQUAL(from_hex("43505231 00000001 01020304 05060708 11121314 15161718 0000002a 00000003 00000000 3b9aca00 00000000"
                         "3b9b8d50 00000000 00000000 00000001 00000001 00000000 33d91243", expected, 72), 72);
    cping__oneway_make_reply(packet, 72, &reply);
    CHECK(memcmp(packet, expected, 72) == 0);
    cping__oneway parsed;
    CHECK_EQUAL(cping__oneway_parse(packet, 72, &parsed), CPING__ONEWAY_REPLY);
    CHECK(parsed.send_ns == reply.send_ns && parsed.flags == 3 && parsed.key.sequence == 42);
    for (size_t i = 0; i < 72; i++) {
        packet[i] ^= 4;
        CHECK_EQUAL(cping__oneway_parse(packet, 72, &parsed), i < 4 ? CPING__ONEWAY_OTHER : CPING__ONEWAY_CORRUPT);
        packet[i] ^= 4;
        CHECK_EQUAL(cping__oneway_parse(packet, i, &parsed), CPING__ONEWAY_SHORT);
    }
    /* A longer request gives an intact reply of the same length. */
    cping__oneway_encode(packet, 80, &key);
    CHECK_EQUAL(cping__oneway_parse_request(packet, 80, &read), 0);
    cping__oneway_make_reply(packet, 80, &reply);
    CHECK_EQUAL(cping__oneway_parse(packet, 80, &parsed), CPING__ONEWAY_REPLY);
}

static cping__oneway note(struct oneway_responder *responder, uint32_t number) {
    static const uint8_t address[16] = {1};
    cping__oneway reply;
    cping__oneway_key key = {.number = number, .session = 5};
    oneway_note(responder, &key, address, number, 0, &reply);
    return reply;
}

static void far_side_keeps_its_counters(void) {
    static struct oneway_responder responder;
    CHECK_EQUAL(note(&responder, 1).flags, CPING__ONEWAY_RESTARTED);
    CHECK(note(&responder, 2).history == 1);
    CHECK(note(&responder, 4).history == 6);   /* 3 is missing */
    CHECK(note(&responder, 3).history == 3);   /* and comes late */
    CHECK(note(&responder, 5).history == 15);
    cping__oneway again = note(&responder, 4);
    CHECK_EQUAL(again.duplicates, 1);
    CHECK_EQUAL(again.received, 6);
    CHECK(note(&responder, 68).history == (UINT64_C(1) << 63 | UINT64_C(1) << 62));  /* 4 and 5 */
    CHECK(note(&responder, 1000).history == 0);
    CHECK_EQUAL(note(&responder, 900).flags, CPING__ONEWAY_NO_HISTORY);
    CHECK_EQUAL(note(&responder, 871).duplicates, 2);  /* too old for the history */
}

struct far {
    int socket;
    struct oneway_responder responder;
    unsigned lost_up, lost_down;
    uint32_t latest;
};

enum { LOSING = 200, ALL = 240 };

/* Loses each fifth ping on its way up and each seventh reply on its way down, but none of the last, which report the others. */
static void serve(struct far *far) {
    uint8_t packet[256];
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    ssize_t size = recvfrom(far->socket, packet, sizeof packet, 0, (struct sockaddr *)&from, &length);
    cping__oneway_key key;
    CHECK(size > 0 && cping__oneway_parse_request(packet, (size_t)size, &key) == 0);
    far->latest = key.number;
    if (key.number < LOSING && key.number % 5 == 0) {
        far->lost_up++;
        return;
    }
    cping__oneway reply;
    static const uint8_t address[16];
    struct oneway_session *session = oneway_note(&far->responder, &key, address, cping_now(), 0, &reply);
    reply.sent = ++session->sent;
    reply.send_ns = cping_now();
    if (key.number < LOSING && key.number % 7 == 0) {
        far->lost_down++;
        return;
    }
    cping__oneway_make_reply(packet, (size_t)size, &reply);
    CHECK(sendto(far->socket, packet, (size_t)size, 0, (struct sockaddr *)&from, length) == size);
}

static uint16_t listen_on(struct far *far) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    far->socket = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(bind(far->socket, (struct sockaddr *)&address, length) == 0);
    CHECK(getsockname(far->socket, (struct sockaddr *)&address, &length) == 0);
    return ntohs(address.sin_port);
}

static void loss_is_split(void) {
    static struct far far;
    /* No busy machine halts for this timeout. It misses slots, so that the run ends after a number of pings, not of slots. */
    cping_target target = {.protocol = CPING_ONEWAY, .interval_ns = 5000000, .timeout_ns = 2000000000, .size = 100};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", listen_on(&far)), 0);
    cping *pinger;
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    struct outcome o = {0};
    unsigned up = 0, down = 0;
    int is_stopped = 0;
    while (!o.finished) {
        if (far.latest >= ALL && !is_stopped) {
            CHECK_EQUAL(cping_stop(pinger, id), 0);
            is_stopped = 1;
        }
        struct pollfd ready[2] = {{.fd = far.socket, .events = POLLIN}, {.fd = cping_event_fd(pinger), .events = POLLIN}};
        poll(ready, 2, 1000);
        if (ready[0].revents) serve(&far);
        cping_event event;
        while (cping_read(pinger, &event, 1)) {
            collect(&o, &event);
            up += event.kind == CPING_LOST && event.flags & CPING_FLAG_LOST_UP;
            down += event.kind == CPING_LOST && event.flags & CPING_FLAG_LOST_DOWN;
        }
    }
    cping_target_info info;
    CHECK_EQUAL(cping_inspect(pinger, id, &info), 0);
    printf("lost %u: %u up of %u, %u down of %u\n", o.lost, up, far.lost_up, down, far.lost_down);
    CHECK_EQUAL(o.verdicts, info.slots);
    CHECK_EQUAL(o.lost, far.lost_up + far.lost_down);
    CHECK_EQUAL(up, far.lost_up);
    CHECK_EQUAL(down, far.lost_down);
    CHECK_EQUAL(info.lost_up, up);
    CHECK_EQUAL(info.lost_down, down);
    CHECK_EQUAL(info.sent - info.far_received, far.lost_up);
    cping_destroy(pinger);
    close(far.socket);
}

/* On one machine both sides have the same clock: up, stay and down must add up to the round trip. */
static void directions_add_up(void) {
    struct reflector reflector = REFLECT("--one-way", "--delay", "5");
    cping_target target = {.protocol = CPING_ONEWAY, .interval_ns = 10000000, .timeout_ns = 5000000000, .count = 20};
    CHECK_EQUAL(cping_address_parse(&target.destination, "::1", reflector.port), 0);
    cping *pinger;
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS}, &pinger), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    struct outcome o = {0};
    int64_t greatest = 0;
    while (!o.finished) {
        cping_event event;
        CHECK_EQUAL(cping_wait(pinger, 10000), 1);
        CHECK_EQUAL(cping_read(pinger, &event, 1), 1);
        collect(&o, &event);
        if (event.kind != CPING_ANSWERED) continue;
        int64_t stay = (int64_t)(event.far_send_ns - event.far_receive_ns);
        int64_t error = event.up_ns + stay + event.down_ns - event.rtt_ns;
        if (error < 0) error = -error;
        if (error > greatest) greatest = error;
        CHECK(stay >= 4900000);
        CHECK(event.far_stamp != CPING_STAMP_NONE && event.far_received > 0 && event.far_sent > 0);
    }
    printf("up + stay + down - round trip: at most %lld ns\n", (long long)greatest);
    CHECK_EQUAL(o.answered + o.not_sent, 20);
    CHECK(o.answered > 0 && greatest < 50000);
    cping_destroy(pinger);
    reflector_stop(reflector);
}

/* Without --one-way the reflector serves only RTR. */
static void is_off_by_default(void) {
    struct reflector reflector = REFLECT();
    cping_target target = {.protocol = CPING_ONEWAY, .interval_ns = 10000000, .timeout_ns = 50000000, .count = 3};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", reflector.port), 0);
    struct outcome o = run_target(&target, 0, NULL);
    CHECK_EQUAL(o.lost + o.not_sent, 3);
    reflector_stop(reflector);
}

int main(void) {
    packets_are_as_documented();
    far_side_keeps_its_counters();
    loss_is_split();
    directions_add_up();
    is_off_by_default();
    return 0;
}
