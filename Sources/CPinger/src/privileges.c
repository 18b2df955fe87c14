/* The privileges of the process, in words, and dropping them. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capabilities.h"
#include "engine.h"

/* ---- Missing privileges ---- */

static int has_capability(unsigned capability) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct own[2] = {0};
    return syscall(SYS_capget, &header, own) == 0 && (own[capability / 32].effective >> capability % 32 & 1) != 0;
}

static void read_line(const char *path, char *line, size_t size) {
    FILE *file = fopen(path, "re");
    line[0] = 0;
    if (file && fgets(line, (int)size, file)) {
        line[strcspn(line, "\n")] = 0;
        for (char *tab; (tab = strchr(line, '\t'));) *tab = ' ';
    }
    if (file) fclose(file);
}

static void explain_echo(const cping_target *target, char *text, size_t size) {
    char range[64], datagram[160] = "";
    read_line("/proc/sys/net/ipv4/ping_group_range", range, sizeof range);
    if (target->socket != CPING_SOCKET_RAW) {
        snprintf(datagram, sizeof datagram, "group %u is not in net.ipv4.ping_group_range (%s)", (unsigned)getegid(),
                 range[0] ? range : "unreadable");
    }
    const char *raw = has_capability(CAP_NET_RAW) ? "raw sockets are refused although CAP_NET_RAW is effective"
                                                  : "CAP_NET_RAW is not among the effective capabilities";
    if (target->socket == CPING_SOCKET_DATAGRAM) snprintf(text, size, "ICMP echo is not permitted: %s", datagram);
    else if (target->socket == CPING_SOCKET_RAW) snprintf(text, size, "raw ICMP is not permitted: %s", raw);
    else snprintf(text, size, "ICMP echo is not permitted: %s, and %s", datagram, raw);
}

static void explain_permission(const cping_target *target, char *text, size_t size) {
    int is_mark = target->mark && !has_capability(CAP_NET_ADMIN) && !has_capability(CAP_NET_RAW);
    if (is_mark) snprintf(text, size, "setting mark %u needs CAP_NET_ADMIN (or CAP_NET_RAW)", target->mark);
    else snprintf(text, size, "binding to interface %.15s is not permitted: CAP_NET_RAW is missing", target->interface_name);
}

int cping_diagnose(const cping_target *target, char *text, size_t size) {
    cping_target config = cping__target_defaults(target);
    cping__channel *channel;
    int error = cping__target_is_valid(&config) ? cping__channel_open(&config, &channel) : -EINVAL;
    if (error == 0) cping__channel_close(channel);
    if (error == -EACCES) explain_echo(&config, text, size);
    else if (error == -EPERM) explain_permission(&config, text, size);
    else if (error == -ENODEV) snprintf(text, size, "there is no network interface %.15s", config.interface_name);
    else snprintf(text, size, "%s", cping_explain(error));
    return error;
}

/* ---- Giving up ---- */

int cping_drop_privileges(cping *pinger, unsigned keep) {
    if (keep & ~(unsigned)(CPING_KEEP_RECOVERY | CPING_KEEP_FILES)) return -EINVAL;
    uint64_t most = cping__capabilities_kept(keep, 0), recoverer = cping__capabilities_kept(keep, 1);
    if (!pinger) return cping__capabilities_drop(most);
    if (pinger->threadless) return cping__capabilities_drop(recoverer);
    int error = (int)cping__mailbox_call(&pinger->mailbox,
                                         (cping__command){.run = cping__command_drop, .time_ns = recoverer});
    int own = cping__capabilities_drop(most);
    return error ? error : own;
}
