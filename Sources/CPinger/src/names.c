#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "cpinger.h"

const char *cping_kind_name(enum cping_kind kind) {
    switch (kind) {
    case CPING_ANSWERED: return "answered";
    case CPING_LOST: return "lost";
    case CPING_REFUSED: return "refused";
    case CPING_ICMP_ERROR: return "icmp-error";
    case CPING_NOT_SENT: return "not-sent";
    case CPING_CANCELLED: return "cancelled";
    case CPING_LATE: return "late";
    case CPING_DUPLICATE: return "duplicate";
    case CPING_CORRUPT: return "corrupt";
    case CPING_ELSEWHERE: return "elsewhere";
    case CPING_FINISHED: return "finished";
    case CPING_REMOVED: return "removed";
    case CPING_OVERFLOW: return "overflow";
    }
    return "unknown";
}

const char *cping_explain(int error) {
    switch (-error) {
    case 0: return "no error";
    case EACCES:
        return "ICMP echo is not permitted: put the process's group into net.ipv4.ping_group_range or give it CAP_NET_RAW";
    case ENODEV: return "there is no network interface of that name";
    case EPERM: return "binding to a network interface or setting a mark is not permitted: CAP_NET_RAW is missing";
    case EADDRNOTAVAIL: return "no network interface has the source address";
    case EADDRINUSE: return "the ICMP identifier is in use";
    case EAFNOSUPPORT: return "this host has no such address family (IPv4 or IPv6)";
    case EINVAL: return "a field of the ping target is out of range";
    case EMFILE: return "the process has too many open files";
    case ENFILE: return "the host has too many open files";
    case ENOMEM: return "no memory is left";
    case EAGAIN: return "the host has no room for another thread";
    case ENOENT: return "there is no ping target of that id";
    case EALREADY: return "the ping target was started before";
    case ESHUTDOWN: return "the pinger is shut down";
    default: return strerrordesc_np(-error) ? strerrordesc_np(-error) : "unknown error";
    }
}
