/* A socket. Targets with the same kind of socket and the same options share one, so that thousands of targets need few sockets. When its
 * interface disappears and comes back, it is bound again. */
#pragma once

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "cpinger.h"
#include "stamps.h"

/* The largest numbers of datagrams that one call sends (batch) and receives (haul). A haul is larger than a batch, so that one call
 * receives all replies to a batch and finds the socket empty. */
enum { CPING__STAMP_WINDOW = 1024, CPING__BATCH = 32, CPING__HAUL = 64 };

struct cping__target;

/* All of a target that makes its socket different from others. Compared bytewise, hence filled from zeroes. */
typedef struct cping__channel_key {
    enum cping_protocol protocol;
    enum cping_socket socket;
    uint32_t flags;  /* those of the target that concern the socket */
    uint32_t mark;
    uint16_t icmp_id;
    uint8_t family, ttl, traffic_class;
    char interface_name[16];
    cping_address source;
} cping__channel_key;

typedef struct cping__channel {
    LIST_ENTRY(cping__channel) link;
    cping__channel_key key;
    int fd;
    unsigned users;
    enum cping_socket kind;
    uint16_t local_port;  /* of ICMP: the echo identifier */
    char source_scope[16];  /* the interface of a source address that holds on one link only; "": it is none */
    uint32_t interface_index;
    int blocked;          /* a negative errno while nothing may be sent: its interface or its address is not there */
    int is_prepared;      /* the socket has all its options, its filter and its address */
    size_t largest;       /* datagram that may come back */
    size_t most_queued;   /* so many datagrams the receive buffer can hold */
    uint64_t read_until_ns;  /* all that had arrived by then was read */

    /* Whether send stamps come is found out by trying. */
    enum cping_stamps stamps;
    unsigned missing_in_a_row;
    /* Since Linux 6.13 a datagram's stamp carries a number of ours, its sequence. Before, the kernel counts datagrams. */
    int numbers_itself;
    uint32_t next_number;
    struct cping__numbered {
        uint32_t number, sequence;
        int used;
    } *sent;

    /* Flooding: the targets that may send, in turn; their pings under way, and how many the receive buffer surely holds. */
    TAILQ_HEAD(, cping__target) flooders;
    unsigned flood_open, flood_limit;
    int is_watched;  /* by epoll */
    unsigned waves;  /* in a row, since it was waited for */
    uint32_t mtu;    /* of this host's own link that the last packet did not fit; 0: not reported */
} cping__channel;

typedef struct cping__outgoing {
    struct sockaddr_in6 to;
    socklen_t to_length;
    const uint8_t *packet;
    size_t length;
    uint32_t sequence;
} cping__outgoing;

typedef struct cping__datagram {
    const uint8_t *bytes;
    size_t length;  /* of `bytes` */
    int cut;        /* it was longer */
    uint8_t ttl;    /* 0: not asked for */
    cping_address from;
    cping__moment at;
} cping__datagram;

/* A message of the error queue. */
typedef struct cping__notice {
    enum { CPING__NOTICE_NONE, CPING__NOTICE_STAMP, CPING__NOTICE_ICMP } kind;
    uint32_t sequence;    /* STAMP */
    int64_t stamp_ns;
    int error;            /* ICMP */
    uint8_t icmp_type, icmp_code;
    uint32_t mtu;
    cping_address destination;
    cping_address reporter;
    const uint8_t *quote;
    size_t quote_length;
} cping__notice;

/* Room for one batch, of one pinger. */
typedef struct cping__batch cping__batch;
cping__batch *cping__batch_create(void);
void cping__batch_destroy(cping__batch *batch);

/* channel.c */
cping__channel_key cping__channel_key_of(const cping_target *target);

/* 0 or a negative errno as `cping_add` documents. */
int cping__channel_open(const cping_target *target, cping__channel **channel);
void cping__channel_close(cping__channel *channel);
int cping__channel_suits(const cping__channel *channel, const cping__channel_key *key);

/* Datagrams of up to so many bytes may come back to this socket from now on. */
void cping__channel_expect(cping__channel *channel, size_t bytes);

/* Interfaces as the socket knows them, in its own network namespace. No such index: "", no such name: 0. */
void cping__channel_interface_name(const cping__channel *channel, uint32_t index, char name[16]);
uint32_t cping__channel_interface_index(const cping__channel *channel, const char *name);

/* Whether the socket lives and dies with an interface. */
int cping__channel_is_bound(const cping__channel *channel);

/* Binds the socket again if the interface of that name is another one than before; updates `blocked`. 1: it was bound again, and `fd` can
 * be another descriptor. */
int cping__channel_refresh(cping__channel *channel);

/* transfer.c */

/* Sends in order until one fails; returns how many were sent, and in `error` the negative errno of the next one, or 0. */
size_t cping__channel_send(cping__channel *channel, cping__batch *batch, const cping__outgoing *packets, size_t count,
                           int *error);

/* Each reads at most a haul and returns its number. The results are valid until the next call with that batch. `more`: there can be
 * more. */
size_t cping__channel_receive(cping__channel *channel, cping__batch *batch, const cping__datagram **datagrams, int *more);
size_t cping__channel_notices(cping__channel *channel, cping__batch *batch, const cping__notice **notices, int *more);
