/*
 * cpcapture: writes the probe's own packets to pcap files, as evidence beside what the pinger reports.
 *
 *     cpcapture_flow flow;
 *     cpcapture_flow_of(&target, &info, &flow);                  after `cping_inspect` has set the local port
 *     char text[200];
 *     cpcapture *capture;
 *     int error = cpcapture_open(&(cpcapture_options){.path = "drive", .flows = &flow, .flow_count = 1}, &capture, text,
 *                                sizeof text);
 *     ...
 *     cpcapture_close(capture, NULL);                            drive-0001.pcap, drive-0002.pcap ...
 *
 * A separate thread reads from libpcap and writes. It does not delay the pinger, and its failures (a full disk, an interface
 * that disappears) do not end the measurement. The conventions are those of cpinger.h.
 *
 * The kernel delivers packets in batches, at most half a second after they passed. Each batch is written at once, so a kill
 * loses no more than that. The file is synced to disk every 4 s and when it is complete, so a power cut loses no more than
 * that.
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

/* The packets of a target: requests to `remote`, its replies, and ICMP errors of any host that quote such a request. */
typedef struct cpcapture_flow {
    enum cping_protocol protocol;
    uint16_t local;        /* the local UDP port or the echo identifier; 0: any */
    uint16_t reserved;
    cping_address remote;  /* with its port, but for ICMP */
} cpcapture_flow;

/* The flow of an added target; `info` comes from `cping_inspect`. */
void cpcapture_flow_of(const cping_target *target, const cping_target_info *info, cpcapture_flow *flow);

typedef struct cpcapture_options {
    /* Files are called `path`-0001.pcap and so on. Numbers go on after the greatest that is there: files of earlier captures
     * are neither overwritten nor removed. */
    const char *path;
    const char *interface_name;  /* NULL or "any": all interfaces. A named one can disappear and come back */
    const cpcapture_flow *flows;
    size_t flow_count;           /* 0: no packets are captured before `cpcapture_follow` */
    uint64_t file_size;          /* largest size of a file; default 16 MiB, at least 8 KiB and four times `snapshot` */
    uint32_t file_count;         /* largest number of this capture's files; the oldest are removed; default 16 */
    uint32_t snapshot;           /* captured bytes of a packet; default 160, enough for all headers and keys; 96 to 65535 */
    uint32_t ring_bytes;         /* of kernel memory for packets on their way to the thread; default 2 MiB */
    uint32_t reserved;
} cpcapture_options;

/* Opens libpcap (which needs CAP_NET_RAW, here and now only), the first file and the thread. Returns 0 or a negative errno,
 * and then in `text` one sentence with the missing privilege or resource.
 *   -EPERM    CAP_NET_RAW is missing
 *   -ENODEV   there is no such interface;  -ENETDOWN  it is down
 *   -ENOENT, -EACCES, -ENOSPC and others  the first file cannot be created
 *   -EINVAL   a field is out of range
 *   -ENOSYS   the library was built without libpcap */
int cpcapture_open(const cpcapture_options *options, cpcapture **capture, char *text, size_t size);

/* Captures these flows from now on, and those of the previous call, so that replies under way are not missed. The kernel
 * exchanges the filter atomically, without a gap. Returns when that is done: 0, or a negative errno with the old flows
 * unchanged. */
int cpcapture_follow(cpcapture *capture, const cpcapture_flow *flows, size_t count);

typedef struct cpcapture_state {
    uint64_t packets;            /* captured; equal to written + unwritten + packets in memory */
    uint64_t written;            /* in files, removed ones included */
    uint64_t dropped_by_kernel;  /* the ring was full: the packet is missing in the file, the ping is not lost */
    uint64_t dropped_by_interface;
    uint64_t unwritten;          /* the disk refused them until memory was full, too */
    uint32_t files;              /* number of the newest */
    int32_t error;               /* 0, or why packets cannot be captured or written now (a negative errno) */
    uint32_t first_file;         /* number of this capture's first */
    uint32_t reserved;
} cpcapture_state;

void cpcapture_get_state(cpcapture *capture, cpcapture_state *state);

/* Writes the packets in the kernel's buffer (which takes half a second) and completes the file. Sets `state` to the last one;
 * `state` and `capture` can be NULL. */
void cpcapture_close(cpcapture *capture, cpcapture_state *state);

#ifdef __cplusplus
}
#endif

#endif
