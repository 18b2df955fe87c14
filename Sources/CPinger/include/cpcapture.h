/*
 * cpcapture: writes the probe's own packets to pcapng files, as evidence beside what the pinger reports.
 *
 *     cpcapture_flow flow;
 *     cpcapture_flow_of(&target, &info, &flow);                  after `cping_inspect` has told the local port
 *     char text[200];
 *     cpcapture *capture;
 *     int error = cpcapture_open(&(cpcapture_options){.path = "drive", .flows = &flow, .flow_count = 1}, &capture, text,
 *                                sizeof text);
 *     ...
 *     cpcapture_close(capture, NULL);                            drive-0001.pcapng, drive-0002.pcapng ...
 *
 * One thread of its own reads from libpcap and writes; it neither delays the pinger nor is waited for by it, and nothing that
 * befalls it (a full disk, an interface that goes away) ends the measuring. The conventions are those of cpinger.h.
 *
 * When are packets in the file? The kernel hands them over in batches, half a second after they passed at the latest; each
 * batch is written at once, so that a kill loses no more than that. The file is forced to disk every 4 s and when it is
 * complete; a power cut loses no more than that.
 */
#ifndef CPCAPTURE_H
#define CPCAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "cpinger.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cpcapture cpcapture;

/* Packets of ours: requests to `remote`, what it replies, and ICMP errors of anybody that quote such a request. */
typedef struct cpcapture_flow {
    enum cping_protocol protocol;
    uint16_t local;        /* our UDP port or the echo identifier; 0: any, as long as it is not known */
    uint16_t reserved;
    cping_address remote;  /* with its port, but for ICMP */
} cpcapture_flow;

/* The flow of a target that was added; `info` is what `cping_inspect` says of it. */
void cpcapture_flow_of(const cping_target *target, const cping_target_info *info, cpcapture_flow *flow);

typedef struct cpcapture_options {
    /* Files are called `path`-0001.pcapng and so on. Numbers go on after the greatest that is there: files of earlier captures
     * are neither overwritten nor removed. */
    const char *path;
    const char *interface_name;  /* NULL or "any": all. A named one is waited for when it goes away, "any" outlives everything */
    const cpcapture_flow *flows;
    size_t flow_count;           /* 0: nothing is captured before `cpcapture_follow` */
    uint64_t file_size;          /* a file is at most so large; default 16 MiB, at least 8 KiB and four times `snapshot` */
    uint32_t file_count;         /* so many files of this capture are kept, its oldest are removed; default 16 */
    uint32_t snapshot;           /* bytes kept of a packet; default 160, which holds each header and key; 96 to 65535 */
    uint32_t ring_bytes;         /* of kernel memory for packets on their way to the thread; default 2 MiB */
    uint32_t reserved;
} cpcapture_options;

/* Opens libpcap (which needs CAP_NET_RAW, here and now only), the first file and the thread. Returns 0 or a negative errno,
 * and then in `text` one sentence that says what is missing.
 *   -EPERM    CAP_NET_RAW is missing
 *   -ENODEV   there is no such interface;  -ENETDOWN  it is down
 *   -ENOENT, -EACCES, -ENOSPC and others  the first file cannot be created
 *   -EINVAL   a field is out of range
 *   -ENOSYS   the library was built without libpcap */
int cpcapture_open(const cpcapture_options *options, cpcapture **capture, char *text, size_t size);

/* From now on these flows are captured, and still those of the call before, so that replies under way are not missed. No
 * packet falls into a gap: the kernel exchanges its filter at once. Returns when that is done: 0 or a negative errno, and then
 * the old flows stay. */
int cpcapture_follow(cpcapture *capture, const cpcapture_flow *flows, size_t count);

typedef struct cpcapture_state {
    uint64_t packets;            /* captured; equal to written + unwritten + what is still in memory */
    uint64_t written;            /* in files, removed ones included */
    uint64_t dropped_by_kernel;  /* the ring was full: a drop of evidence, not of a ping */
    uint64_t dropped_by_interface;
    uint64_t unwritten;          /* the disk refused them until memory was full as well */
    uint32_t files;              /* number of the newest */
    int32_t error;               /* 0, or why nothing can be captured or written at present (a negative errno) */
    uint32_t first_file;         /* number of this capture's first */
    uint32_t reserved;
} cpcapture_state;

void cpcapture_get_state(cpcapture *capture, cpcapture_state *state);

/* Writes what the kernel still holds (which takes half a second) and completes the file. `state`, the last one, may be NULL;
 * so may `capture`. */
void cpcapture_close(cpcapture *capture, cpcapture_state *state);

#ifdef __cplusplus
}
#endif

#endif
