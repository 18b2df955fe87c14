#if CPINGER_CAPTURE

#include "capture_options.h"

#include <errno.h>
#include <stdio.h>

void cpcapture_flow_of(const cping_target *target, const cping_target_info *info, cpcapture_flow *flow) {
    *flow = (cpcapture_flow){.protocol = target->protocol, .local = info->local_port, .remote = target->destination};
}

int cpcapture__complain(int error, char *text, size_t size, const char *sentence) {
    snprintf(text, size, "packets cannot be captured: %s", sentence);
    return error;
}

int cpcapture__are_flows(const cpcapture_flow *flows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int family = flows[i].remote.family, protocol = flows[i].protocol;
        if (family != 4 && family != 6) return 0;
        if (protocol != CPING_ICMP && ((protocol != CPING_RTR && protocol != CPING_ONEWAY) || flows[i].remote.port == 0)) {
            return 0;
        }
    }
    return 1;
}

cpcapture_options cpcapture__with_defaults(const cpcapture_options *given) {
    cpcapture_options options = *given;
    if (!options.interface_name || !*options.interface_name) options.interface_name = "any";
    if (options.file_size == 0) options.file_size = 16 << 20;
    if (options.file_count == 0) options.file_count = 16;
    if (options.snapshot == 0) options.snapshot = 160;
    if (options.ring_bytes == 0) options.ring_bytes = 2 << 20;
    return options;
}

int cpcapture__check(const cpcapture_options *options, char *text, size_t size) {
    if (!options->path || !*options->path) return cpcapture__complain(-EINVAL, text, size, "there is no path for the files");
    if (options->snapshot < 96 || options->snapshot > 65535) {
        return cpcapture__complain(-EINVAL, text, size, "the snapshot length is not between 96 and 65535");
    }
    if (options->file_size < 8192 || options->file_size < 4 * (uint64_t)options->snapshot) {
        return cpcapture__complain(-EINVAL, text, size, "files must be larger than 8 KiB and four packets");
    }
    if (options->ring_bytes > INT32_MAX) return cpcapture__complain(-EINVAL, text, size, "the ring is larger than 2 GiB");
    if (!cpcapture__are_flows(options->flows, options->flow_count)) {
        return cpcapture__complain(-EINVAL, text, size, "a flow is no ping to an address and port");
    }
    return 0;
}

#endif
