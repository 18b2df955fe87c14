/* What the process may do, in words, and giving it up. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine.h"

/* ---- Giving up ---- */

typedef struct capabilities {
    struct __user_cap_data_struct data[2];
} capabilities;

static int get_capabilities(capabilities *own) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &header, own->data) == 0 ? 0 : -errno;
}

int cping__capabilities_drop(uint64_t keep) {
    capabilities own;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    int error = get_capabilities(&own);
    if (error) return error;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL);
    /* The bounding set needs CAP_SETPCAP; without that, no_new_privs alone does. */
    for (unsigned long c = 0; c <= CAP_LAST_CAP; c++) prctl(PR_CAPBSET_DROP, c, 0UL, 0UL, 0UL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0) return -errno;
    for (int i = 0; i < 2; i++) {
        uint32_t kept = own.data[i].permitted & (uint32_t)(keep >> 32 * i);
        own.data[i] = (struct __user_cap_data_struct){.effective = kept, .permitted = kept};
    }
    return syscall(SYS_capset, &header, own.data) == 0 ? 0 : -errno;
}

/* ---- Saying what is missing ---- */

static int has_capability(unsigned capability) {
    capabilities own = {0};
    get_capabilities(&own);
    return (own.data[capability / 32].effective >> capability % 32 & 1) != 0;
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

/* ---- Of the pinger ---- */

static uint64_t bit(unsigned capability) {
    return UINT64_C(1) << capability;
}

int cping_drop_privileges(cping *pinger, unsigned keep) {
    uint64_t kept = keep & CPING_KEEP_RECOVERY ? bit(CAP_NET_RAW) | bit(CAP_NET_ADMIN) : 0;
    if (keep & ~(unsigned)CPING_KEEP_RECOVERY) return -EINVAL;
    cping__command command = {.run = cping__command_drop, .time_ns = kept};
    if (pinger->threadless) return cping__capabilities_drop(kept);
    int error = (int)cping__mailbox_call(&pinger->mailbox, command);
    int own = cping__capabilities_drop(0);
    return error ? error : own;
}
