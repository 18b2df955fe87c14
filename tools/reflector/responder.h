/* Decides on the answer to a request: the rules of the RTR server, then the faults. */
#ifndef REFLECTOR_RESPONDER_H
#define REFLECTOR_RESPONDER_H

#include <stddef.h>
#include <stdint.h>

#include "echo_limit.h"
#include "oneway_responder.h"
#include "options.h"

enum { MAX_DATAGRAM = 65536 };

struct counters {
    uint64_t requests, malformed, expired, unknown_token, dead, dropped, ok, re01, duplicates, wrong_sequence, short_replies,
        unknown_magic, other_port, send_errors, oneway, echoes, echoes_withheld;
};

struct responder {
    const struct options *options;
    uint64_t random;
    int re01_armed;  /* the next valid request gets RE01 */
    struct counters counters;
    struct oneway_responder oneway;
    struct echo_limit echo_limit;
};

/* A request, with its source and time. */
struct request {
    const uint8_t *bytes;
    size_t length;
    uint8_t address[16];
    uint16_t port;          /* of the sender */
    uint16_t local_port;
    int64_t now;            /* Unix seconds */
    double elapsed;         /* seconds since the start of the program */
    uint64_t receive_ns;    /* on CLOCK_BOOTTIME */
    int is_kernel_stamp;
};

struct answer {
    uint8_t bytes[8];       /* of an RTR answer */
    int is_oneway;          /* the answer is the request, into which `oneway` is written on sending */
    int is_echo;            /* the answer is the request */
    cping__oneway oneway;
    struct oneway_session *session;
    size_t length;  /* 0: no answer */
    int copies;
    int other_port;
};

void responder_init(struct responder *responder, const struct options *options);

struct answer responder_answer(struct responder *responder, const struct request *request);

#endif
