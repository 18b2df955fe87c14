/* Loss, duplication, reordering, lateness and damage, mixed at random: the far side's counters are the judge of every count. */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "oneway.h"
#include "support.h"

enum { PINGS = 500, TIMEOUT_MS = 300 };

struct reply {
    uint64_t due_ns;
    uint32_t number;
    int is_first, is_corrupt;
    uint8_t bytes[128];
    size_t length;
};

struct far {
    int socket, is_oneway;
    struct sockaddr_storage from;
    struct reply queue[4 * PINGS];
    size_t queued;
    uint64_t random;
    uint32_t number, newest;
    unsigned requests, dropped, late, duplicates, corrupt, reordered;
};

static unsigned chance(struct far *far) {
    far->random = far->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(far->random >> 33) % 100;
}

static struct reply *post(struct far *far, const struct reply *reply, int after_ms, int is_first) {
    struct reply *copy = &far->queue[far->queued++];
    CHECK(far->queued <= sizeof far->queue / sizeof far->queue[0]);
    *copy = *reply;
    copy->due_ns = cping_now() + (uint64_t)after_ms * 1000000;
    copy->is_first = is_first;
    return copy;
}

static struct reply build(struct far *far, const uint8_t *packet, size_t length) {
    struct reply reply = {.number = ++far->number, .length = far->is_oneway ? length : 8};
    memcpy(reply.bytes, packet, reply.length);
    if (far->is_oneway) {
        cping__oneway_make_reply(reply.bytes, length, &(cping__oneway){.flags = CPING__ONEWAY_NO_HISTORY});
    } else {
        memcpy(reply.bytes, "RR01", 4);
    }
    return reply;
}

/* An RTR reply with a damaged sequence looks like another ping's reply, so that RTR replies are not damaged here. */
static void take_request(struct far *far) {
    uint8_t packet[128];
    socklen_t size = sizeof far->from;
    ssize_t length = recvfrom(far->socket, packet, sizeof packet, MSG_DONTWAIT, (struct sockaddr *)&far->from, &size);
    if (length < 0) return;
    struct reply reply = build(far, packet, (size_t)length);
    unsigned lot = chance(far);
    far->requests++;
    if (lot < 10) {
        far->dropped++;
    } else if (lot < 20) {
        far->late++;
        post(far, &reply, 2 * TIMEOUT_MS, 1);
    } else if (lot < 35) {
        int copies = 1 + (int)(lot % 3);
        post(far, &reply, 0, 1);
        for (int i = 0; i < copies; i++) post(far, &reply, (int)chance(far) / 4, 0);
        far->duplicates += (unsigned)copies;
    } else if (lot < 50) {
        post(far, &reply, (int)chance(far) / 2, 1);
    } else if (lot < 60 && far->is_oneway) {
        struct reply *spoiled = post(far, &reply, 0, 0);
        spoiled->bytes[4 + chance(far) % 68] ^= (uint8_t)(1 + chance(far));
        far->corrupt++;
    } else {
        post(far, &reply, 0, 1);
    }
}

static void send_due(struct far *far) {
    uint64_t now = cping_now();
    for (size_t i = 0; i < far->queued; i++) {
        struct reply *reply = &far->queue[i];
        if (reply->length == 0 || reply->due_ns > now) continue;
        CHECK(sendto(far->socket, reply->bytes, reply->length, 0, (struct sockaddr *)&far->from, sizeof(struct sockaddr_in)) >
              0);
        if (reply->is_first && reply->number < far->newest) far->reordered++;
        else if (reply->is_first) far->newest = reply->number;
        reply->length = 0;
    }
}

static void counts_match_the_far_side(int is_oneway, uint64_t seed) {
    static struct far far;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    memset(&far, 0, sizeof far);
    far.is_oneway = is_oneway;
    far.random = seed;
    far.socket = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(bind(far.socket, (struct sockaddr *)&address, length) == 0);
    CHECK(getsockname(far.socket, (struct sockaddr *)&address, &length) == 0);
    cping_target target = {.protocol = is_oneway ? CPING_ONEWAY : CPING_RTR, .interval_ns = 2000000, .count = PINGS,
                           .timeout_ns = TIMEOUT_MS * UINT64_C(1000000)};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", ntohs(address.sin_port)), 0);

    cping *pinger;
    struct outcome o = {0};
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK(id > 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    uint64_t end_ns = UINT64_MAX;
    while (cping_now() < end_ns) {
        struct pollfd ready[2] = {{.fd = far.socket, .events = POLLIN}, {.fd = cping_event_fd(pinger), .events = POLLIN}};
        poll(ready, 2, 1);
        take_request(&far);
        send_due(&far);
        cping_event event;
        while (cping_read(pinger, &event, 1)) collect(&o, &event);
        /* The last late replies may still come. */
        if (o.finished && end_ns == UINT64_MAX) end_ns = cping_now() + 2 * TIMEOUT_MS * UINT64_C(1000000);
    }
    cping_target_info info;
    CHECK_EQUAL(cping_inspect(pinger, id, &info), 0);
    printf("%s: %ju sent, %ju answered, %ju lost, %ju late, %ju duplicates, %ju reordered, %ju corrupt; "
           "far side: %u, %u dropped, %u late, %u duplicates, %u reordered, %u corrupt\n", is_oneway ? "one-way" : "RTR",
           (uintmax_t)info.sent, (uintmax_t)info.answered, (uintmax_t)info.lost, (uintmax_t)info.late,
           (uintmax_t)info.duplicates, (uintmax_t)info.reordered, (uintmax_t)info.corrupt, far.requests, far.dropped, far.late,
           far.duplicates, far.reordered, far.corrupt);
    CHECK_EQUAL(o.verdicts, PINGS);
    CHECK_EQUAL(info.sent, far.requests);
    CHECK_EQUAL(info.lost, far.dropped + far.late + far.corrupt);
    CHECK_EQUAL(info.answered, info.sent - info.lost);
    CHECK_EQUAL(info.late, far.late);
    CHECK_EQUAL(info.duplicates, far.duplicates);
    CHECK_EQUAL(info.reordered, far.reordered);
    CHECK_EQUAL(o.late, far.late);
    CHECK_EQUAL(o.duplicates, far.duplicates);
    /* Damage to the magic or the source has other counters, and is not made here. */
    CHECK_EQUAL(info.corrupt, far.corrupt);
    CHECK_EQUAL(o.corrupt, far.corrupt);
    cping_destroy(pinger);
    close(far.socket);
}

int main(void) {
    for (uint64_t seed = 1; seed <= 2; seed++) {
        counts_match_the_far_side(1, seed);
        counts_match_the_far_side(0, seed);
    }
    return 0;
}
