/* The capture in a library without libpcap: opening it fails with -ENOSYS. */
#if !CPINGER_CAPTURE

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cpcapture.h"

void cpcapture_flow_of(const cping_target *target, const cping_target_info *info, cpcapture_flow *flow) {
    *flow = (cpcapture_flow){.protocol = target->protocol, .local = info->local_port, .remote = target->destination};
}

int cpcapture_open(const cpcapture_options *options, cpcapture **capture, char *text, size_t size) {
    (void)options;
    *capture = NULL;
    snprintf(text, size, "packets cannot be captured: this program was built without libpcap");
    return -ENOSYS;
}

int cpcapture_follow(cpcapture *capture, const cpcapture_flow *flows, size_t count) {
    (void)capture, (void)flows, (void)count;
    return -ENOSYS;
}

void cpcapture_get_state(cpcapture *capture, cpcapture_state *state) {
    (void)capture;
    memset(state, 0, sizeof *state);
}

void cpcapture_close(cpcapture *capture, cpcapture_state *state) {
    (void)capture;
    if (state) memset(state, 0, sizeof *state);
}

#endif
