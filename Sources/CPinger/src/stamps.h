/* From time stamps to a round trip time. */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "clock.h"

/* One end of a ping. `kernel_ns` is the kernel's software stamp (CLOCK_REALTIME); 0: it gave none. */
typedef struct cping__moment {
    cping__reading clocks;
    int64_t kernel_ns;
} cping__moment;

typedef struct cping__figure {
    int64_t rtt_ns;
    int64_t bound_ns;
    uint8_t stamp;   /* enum cping_stamp, of both ends: two clocks are never mixed in one difference */
    uint32_t flags;  /* enum cping_flag */
} cping__figure;

/* `sent` was read right before sending, `received` right after receiving. */
cping__figure cping__measure(const cping__moment *sent, const cping__moment *received);

/* The moment on CLOCK_BOOTTIME by the kernel's stamp; without one `otherwise_ns`. */
int64_t cping__boot_time(const cping__moment *moment, uint64_t otherwise_ns);

/* Requests software stamps of both directions, and numbers of datagrams from 0. A refusal by the kernel shows later, by missing
 * stamps. */
void cping__stamps_enable(int socket);

/* The software stamp among the control messages, or 0. */
int64_t cping__stamps_find(struct msghdr *message);
