#if CPINGER_CAPTURE

#define _GNU_SOURCE
#include "capture_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture_filter.h"

static int explain(pcap_t *handle, int status, const char *interface_name, char *text, size_t size) {
    switch (status) {
    case PCAP_ERROR_PERM_DENIED:
        snprintf(text, size, "capturing packets needs CAP_NET_RAW, which is not among the effective capabilities");
        return -EPERM;
    case PCAP_ERROR_NO_SUCH_DEVICE:
        snprintf(text, size, "packets cannot be captured: there is no network interface %s", interface_name);
        return -ENODEV;
    case PCAP_ERROR_IFACE_NOT_UP:
        snprintf(text, size, "packets cannot be captured: network interface %s is down", interface_name);
        return -ENETDOWN;
    default:
        snprintf(text, size, "packets cannot be captured on %s: %s", interface_name,
                 handle ? pcap_geterr(handle) : pcap_statustostr(status));
        return -EIO;
    }
}

/* A capture of "any" needs the interface of each packet: the second cooked format contains its index. */
static void choose_link_type(cpcapture__source *source) {
    if (pcap_datalink(source->handle) == DLT_LINUX_SLL) (void)pcap_set_datalink(source->handle, DLT_LINUX_SLL2);
    source->link_type = pcap_datalink(source->handle);
}

int cpcapture__source_open(cpcapture__source *source, const cpcapture_options *options, char *text, size_t size) {
    char message[PCAP_ERRBUF_SIZE] = "";
    *source = (cpcapture__source){.handle = pcap_create(options->interface_name, message)};
    if (!source->handle) {
        snprintf(text, size, "packets cannot be captured: %s", message);
        return -EIO;
    }
    pcap_set_snaplen(source->handle, (int)options->snapshot);
    pcap_set_timeout(source->handle, CPCAPTURE__BATCH_MS);
    pcap_set_buffer_size(source->handle, (int)options->ring_bytes);
    int status = pcap_set_tstamp_precision(source->handle, PCAP_TSTAMP_PRECISION_NANO);
    if (status == 0) status = pcap_activate(source->handle);
    int error = status < 0 ? explain(source->handle, status, options->interface_name, text, size) : 0;
    if (!error && pcap_setnonblock(source->handle, 1, message) != 0) {
        snprintf(text, size, "packets cannot be captured: %s", message);
        error = -EIO;
    }
    if (error) cpcapture__source_close(source);
    else choose_link_type(source);
    return error;
}

typedef struct cpcapture__former {
    struct cpcapture__former *older;
    struct bpf_program program;
    uint64_t replaced_ms;
} cpcapture__former;

static void free_formers(cpcapture__former *former) {
    for (cpcapture__former *older; former; former = older) {
        older = former->older;
        pcap_freecode(&former->program);
        free(former);
    }
}

static void replace_program(cpcapture__source *source, struct bpf_program program, cpcapture__former *former) {
    if (source->has_program) {
        former->older = source->former;
        former->program = source->program;
        source->former = former;
    } else {
        free(former);
    }
    source->program = program;
    source->has_program = 1;
}

int cpcapture__source_filter(cpcapture__source *source, const char *expression) {
    struct bpf_program program;
    if (pcap_compile(source->handle, &program, expression, 1, PCAP_NETMASK_UNKNOWN) != 0) return -EINVAL;
    cpcapture__former *former = malloc(sizeof *former);
    int error = former ? cpcapture__filter_attach(pcap_fileno(source->handle), source->link_type, &program) : -ENOMEM;
    if (error && (source->has_program || !former)) {
        /* The kernel would still drop packets that the new filter selects. */
        pcap_freecode(&program);
        free(former);
        return error;
    }
    former->replaced_ms = cping_now() / 1000000;
    replace_program(source, program, former);
    return 0;
}

void cpcapture__source_was_read(cpcapture__source *source, uint64_t read_ms) {
    for (cpcapture__former **link = &source->former; *link; link = &(*link)->older) {
        if ((*link)->replaced_ms + CPCAPTURE__LAG_MS > read_ms) continue;
        /* The others are older still. */
        free_formers(*link);
        *link = NULL;
        return;
    }
}

int cpcapture__source_wants(const cpcapture__source *source, const struct pcap_pkthdr *header, const uint8_t *bytes) {
    if (!source->has_program) return 0;
    if (pcap_offline_filter(&source->program, header, bytes) != 0) return 1;
    for (const cpcapture__former *former = source->former; former; former = former->older) {
        if (pcap_offline_filter(&former->program, header, bytes) != 0) return 1;
    }
    return 0;
}

void cpcapture__source_close(cpcapture__source *source) {
    if (source->has_program) pcap_freecode(&source->program);
    free_formers(source->former);
    if (source->handle) pcap_close(source->handle);
    *source = (cpcapture__source){0};
}

#endif
