/* Which packets are the probe's own: a filter expression (pcap-filter(7)) and its program for the kernel. */
#pragma once

#include "cpcapture.h"

struct bpf_program;

enum { CPCAPTURE__EXACT_FLOWS = 32 };

/* The expression, to be freed; NULL without memory. Of more than CPCAPTURE__EXACT_FLOWS flows the remote addresses are left
 * out where the local port or identifier is known, and duplicate conditions are merged: thousands of targets share few sockets. */
char *cpcapture__filter_text(const cpcapture_flow *flows, size_t count);

/* Puts a program that libpcap compiled for `link_type` before the packet socket `fd`, in one step. libpcap's own way discards
 * all packets for a moment. Returns 0 or a negative errno; then only libpcap's own filter applies. */
int cpcapture__filter_attach(int fd, int link_type, const struct bpf_program *program);
