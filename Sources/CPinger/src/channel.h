/* A socket. Targets with the same protocol, family, kind and interface share one, so that thousands of targets need few. */
#ifndef CPING__CHANNEL_H
#define CPING__CHANNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cpinger.h"
#include "stamps.h"

enum { CPING__DATAGRAM_SIZE = 2048, CPING__STAMP_WINDOW = 1024 };

typedef struct cping__channel {
    LIST_ENTRY(cping__channel) link;
    int fd;
    unsigned users;
    enum cping_protocol protocol;
    enum cping_socket kind;
    uint8_t family;
    char interface_name[16];
    uint16_t local_port;  /* of ICMP: the echo identifier */
    /* The kernel numbers datagrams and gives that number back with the send stamp. */
    uint32_t next_number;
    struct {
        uint32_t number, sequence;
        int used;
    } sent[CPING__STAMP_WINDOW];
} cping__channel;

typedef struct cping__datagram {
    uint8_t bytes[CPING__DATAGRAM_SIZE];
    size_t length;  /* of what is in `bytes`; longer datagrams are cut */
    cping_address from;
    cping__moment at;
} cping__datagram;

/* What came through the error queue. */
typedef struct cping__notice {
    enum { CPING__NOTICE_NONE, CPING__NOTICE_STAMP, CPING__NOTICE_ICMP } kind;
    uint32_t number;      /* STAMP */
    int64_t stamp_ns;
    int error;            /* ICMP */
    uint8_t icmp_type, icmp_code;
    cping_address destination;
    cping_address reporter;
    uint8_t quote[256];
    size_t quote_length;
} cping__notice;

/* Both return 0 or a negative errno as `cping_add` documents. */
int cping__channel_open(const cping_target *target, cping__channel **channel);
void cping__channel_close(cping__channel *channel);

/* Whether a target like this can use the channel. */
int cping__channel_suits(const cping__channel *channel, const cping_target *target);

/* 0 or a negative errno. The number of the datagram is remembered for its send stamp. */
int cping__channel_send(cping__channel *channel, const cping_address *to, const void *packet, size_t length,
                        uint32_t sequence);

/* 1 if there was one, 0 if there is none now. */
int cping__channel_receive(cping__channel *channel, cping__datagram *datagram);
int cping__channel_notice(cping__channel *channel, cping__notice *notice);

/* The sequence that was sent as datagram `number`; 0 if it is remembered, else -1. */
int cping__channel_sequence(const cping__channel *channel, uint32_t number, uint32_t *sequence);

#endif
