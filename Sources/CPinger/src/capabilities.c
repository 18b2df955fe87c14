#define _GNU_SOURCE
#include "capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t bit(unsigned capability) {
    return UINT64_C(1) << capability;
}

/* The capabilities of root that concern files. */
static uint64_t for_files(void) {
    return bit(CAP_CHOWN) | bit(CAP_DAC_OVERRIDE) | bit(CAP_DAC_READ_SEARCH) | bit(CAP_FOWNER) | bit(CAP_FSETID);
}

uint64_t cping__capabilities_kept(unsigned keep, int is_recoverer) {
    uint64_t kept = keep & CPING_KEEP_FILES ? for_files() : 0;
    if (keep & CPING_KEEP_RECOVERY && is_recoverer) kept |= bit(CAP_NET_RAW) | bit(CAP_NET_ADMIN);
    return kept;
}

/* Needs CAP_SETPCAP; without that, no_new_privs alone does. Programs that are started later get no more than files ask for. */
static void narrow_bounds(uint64_t keep) {
    for (unsigned c = 0; prctl(PR_CAPBSET_READ, (unsigned long)c, 0UL, 0UL, 0UL) >= 0; c++) {
        if (!(keep & for_files() & bit(c))) prctl(PR_CAPBSET_DROP, (unsigned long)c, 0UL, 0UL, 0UL);
    }
}

int cping__capabilities_drop(uint64_t keep) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct own[2];
    if (syscall(SYS_capget, &header, own) != 0) return -errno;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL);
    narrow_bounds(keep);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0) return -errno;
    for (int i = 0; i < 2; i++) {
        uint32_t kept = own[i].permitted & (uint32_t)(keep >> 32 * i);
        own[i] = (struct __user_cap_data_struct){.effective = kept, .permitted = kept};
    }
    return syscall(SYS_capset, &header, own) == 0 ? 0 : -errno;
}

sigset_t cping__foreign_signals(void) {
    static const int ours[] = {CPING__DROP_SIGNAL, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) sigdelset(&set, ours[i]);
    return set;
}
