#define _GNU_SOURCE
#include "filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>

/* A raw IPv4 socket sees the IP header, a raw ICMPv6 socket does not. */
static int filter_identifier(int socket, uint8_t family, uint16_t identifier) {
    struct sock_filter code4[] = {
        BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
        BPF_STMT(BPF_LD | BPF_H | BPF_IND, 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, identifier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0xffff),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_filter code6[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, identifier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0xffff),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program4 = {sizeof code4 / sizeof code4[0], code4};
    struct sock_fprog program6 = {sizeof code6 / sizeof code6[0], code6};
    const struct sock_fprog *program = family == 4 ? &program4 : &program6;
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, program, sizeof *program) == 0 ? 0 : -errno;
}

/* A new raw socket receives every echo reply of the host until its filter is attached. They are dropped, so that those of other
 * programs do not count as corrupt. */
static int drop_all(int socket) {
    struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) return -errno;
    for (int failures = 0; failures < 4;) {
        char byte;
        if (recv(socket, &byte, sizeof byte, MSG_DONTWAIT) >= 0) continue;
        if (errno == EAGAIN) return 0;
        /* An error of the network that is pending comes once. */
        failures++;
    }
    return -errno;
}

static int filter_type(int socket, uint8_t family) {
    if (family == 4) {
        struct icmp_filter filter = {.data = ~(1u << ICMP_ECHOREPLY)};
        return setsockopt(socket, SOL_RAW, ICMP_FILTER, &filter, sizeof filter) == 0 ? 0 : -errno;
    }
    struct icmp6_filter filter;
    ICMP6_FILTER_SETBLOCKALL(&filter);
    ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &filter);
    return setsockopt(socket, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof filter) == 0 ? 0 : -errno;
}

int cping__filter_echo_replies(int socket, uint8_t family, uint16_t *identifier, int wanted) {
    if (!wanted && getrandom(identifier, sizeof *identifier, 0) != sizeof *identifier) return -errno;
    int error = drop_all(socket);
    if (error == 0) error = filter_type(socket, family);
    return error ? error : filter_identifier(socket, family, *identifier);
}
