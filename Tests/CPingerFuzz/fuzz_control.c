/* Names and control messages of a datagram: stamps, error reports, quotes. The messages are well-formed, as the kernel makes
 * them; their content is arbitrary. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>
#include <linux/errqueue.h>
#include <netinet/in.h>

#include "channel.h"
#include "fuzz.h"

enum { MESSAGES = 4, REMEMBERED = 5 };

static feed input;

static void fill_name(struct msghdr *header) {
    struct sockaddr_storage name = {0};
    size_t length = feed_byte(&input) % (sizeof(struct sockaddr_in6) + 1);
    feed_bytes(&input, &name, length);
    uint8_t family = feed_byte(&input);
    if (family & 1) name.ss_family = family & 2 ? AF_INET6 : AF_INET;
    HOLDS(header->msg_namelen >= length);
    memcpy(header->msg_name, &name, length);
    header->msg_namelen = (socklen_t)length;
}

/* Stamps: no kernel clock goes beyond the year 2262. */
static size_t fill_stamps(uint8_t *data) {
    struct scm_timestamping stamps = {0};
    uint32_t seconds, nanoseconds;
    feed_bytes(&input, &seconds, sizeof seconds);
    feed_bytes(&input, &nanoseconds, sizeof nanoseconds);
    stamps.ts[0] = (struct timespec){.tv_sec = seconds, .tv_nsec = nanoseconds % 1000000000};
    memcpy(data, &stamps, sizeof stamps);
    return sizeof stamps;
}

static size_t fill_data(struct cmsghdr *c, uint8_t kind, uint8_t *data) {
    static const struct {
        int level, type;
    } kinds[] = {{SOL_SOCKET, SCM_TIMESTAMPING}, {IPPROTO_IP, IP_RECVERR}, {IPPROTO_IPV6, IPV6_RECVERR}, {IPPROTO_IP, IP_TTL}};
    c->cmsg_level = kinds[kind & 3].level;
    c->cmsg_type = kinds[kind & 3].type;
    if ((kind & 7) == 0) return fill_stamps(data);
    /* Of the right length, or of any length. */
    size_t right = sizeof(struct sock_extended_err) + (kind & 3 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    size_t length = kind & 8 ? feed_byte(&input) % 96 : right;
    if ((kind & 3) == 0 && length >= sizeof(struct scm_timestamping)) length = sizeof(struct scm_timestamping) - 1;
    feed_bytes(&input, data, length);
    return length;
}

/* Like the kernel's put_cmsg, truncates data that does not fit. A message has at most one error report. */
static void fill_control(struct msghdr *header) {
    size_t room = header->msg_controllen, used = 0;
    int is_reported = 0;
    for (uint8_t kind; used + sizeof(struct cmsghdr) <= room && (kind = feed_byte(&input)) & 0x80;) {
        uint8_t data[128];
        struct cmsghdr c = {0};
        if (is_reported) kind &= 0xfc;
        is_reported |= (kind & 3) == 1 || (kind & 3) == 2;
        size_t length = CMSG_LEN(fill_data(&c, kind, data));
        if (length > room - used) length = room - used;
        c.cmsg_len = length;
        uint8_t *to = (uint8_t *)header->msg_control + used;
        memcpy(to, &c, sizeof c);
        memcpy(to + CMSG_LEN(0), data, length - CMSG_LEN(0));
        used += CMSG_ALIGN(length);
        if (used > room) used = room;
    }
    header->msg_controllen = used;
}

static void fill_message(struct mmsghdr *message) {
    struct iovec *part = message->msg_hdr.msg_iov;
    size_t length = feed_16(&input);
    message->msg_hdr.msg_flags = length > part->iov_len ? MSG_TRUNC : 0;
    message->msg_len = (unsigned)(length < part->iov_len ? length : part->iov_len);
    feed_bytes(&input, part->iov_base, message->msg_len < 96 ? message->msg_len : 96);
    fill_name(&message->msg_hdr);
    fill_control(&message->msg_hdr);
}

int __wrap_recvmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout);

int __wrap_recvmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    (void)socket, (void)flags, (void)timeout;
    unsigned filled = 0;
    while (filled < count && filled < MESSAGES && input.left) fill_message(&messages[filled++]);
    errno = EAGAIN;
    return filled ? (int)filled : -1;
}

static void check_datagrams(cping__channel *channel, cping__batch *batch) {
    const cping__datagram *datagrams;
    int more;
    size_t count = cping__channel_receive(channel, batch, &datagrams, &more);
    for (size_t i = 0; i < count; i++) {
        touch(datagrams[i].bytes, datagrams[i].length);
        HOLDS(datagrams[i].from.family == 0 || datagrams[i].from.family == 4 || datagrams[i].from.family == 6);
        HOLDS(datagrams[i].at.kernel_ns >= 0);
    }
}

static void check_notices(cping__channel *channel, cping__batch *batch) {
    const cping__notice *notices;
    int more;
    size_t count = cping__channel_notices(channel, batch, &notices, &more);
    for (size_t i = 0; i < count; i++) {
        touch(notices[i].quote, notices[i].quote_length);
        HOLDS(notices[i].stamp_ns >= 0 && notices[i].reporter.port == 0);
        if (notices[i].kind == CPING__NOTICE_STAMP && !channel->numbers_itself) {
            HOLDS(notices[i].sequence >= 1000 && notices[i].sequence < 1000 + REMEMBERED);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static cping__batch *batch;
    static struct cping__numbered numbered[CPING__STAMP_WINDOW];
    static const size_t largest[] = {24, 64, 1500, 65535};
    input = (feed){data, size};
    if (!batch) batch = cping__batch_create();
    HOLDS(batch != NULL);
    for (uint32_t i = 0; i < REMEMBERED; i++) numbered[i] = (struct cping__numbered){i, 1000 + i, 1};
    uint8_t mode = feed_byte(&input);
    cping__channel channel = {.key.family = mode & 1 ? 6 : 4, .numbers_itself = mode >> 1 & 1, .fd = -1,
                              .largest = largest[mode >> 2 & 3], .sent = mode & 16 ? numbered : NULL};
    if (mode & 32) check_datagrams(&channel, batch);
    else check_notices(&channel, batch);
    return 0;
}
