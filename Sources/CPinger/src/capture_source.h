/* A libpcap handle with nanosecond stamps on one interface or all, and the probe's filter in the kernel and here. */
#pragma once

#include <pcap/pcap.h>

#include "cpcapture.h"

/* How long the kernel collects packets before it hands them over. Each time costs a wakeup. */
enum { CPCAPTURE__BATCH_MS = 250 };

/* It hands a batch over when its time has run out twice. */
enum { CPCAPTURE__LAG_MS = 2 * CPCAPTURE__BATCH_MS + 50 };

typedef struct cpcapture__source {
    pcap_t *handle;
    int link_type;               /* DLT_... */
    struct bpf_program program;  /* the truth; the kernel's copy saves wakeups */
    int has_program;
    struct cpcapture__former *former;  /* programs by which packets came in that the kernel has not handed over yet */
} cpcapture__source;

/* Opens without a filter; 0 or a negative errno with a sentence in `text`. */
int cpcapture__source_open(cpcapture__source *source, const cpcapture_options *options, char *text, size_t size);

/* From now on only packets that fit `expression`; 0 or a negative errno, and then the filter is the one before. */
int cpcapture__source_filter(cpcapture__source *source, const char *expression);

/* All packets that the kernel had delivered by `read_ms` (of `cping_now`) were read, including those of older filters. */
void cpcapture__source_was_read(cpcapture__source *source, uint64_t read_ms);

/* Whether a packet is wanted, or was when it can have come in: some can have come before the kernel had its filter. */
int cpcapture__source_wants(const cpcapture__source *source, const struct pcap_pkthdr *header, const uint8_t *bytes);

void cpcapture__source_close(cpcapture__source *source);
