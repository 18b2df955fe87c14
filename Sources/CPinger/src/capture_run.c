#if CPINGER_CAPTURE

#define _GNU_SOURCE
#include "capture_run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SYNC_MS = 4000, REOPEN_MS = 1000 };

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void take_packet(u_char *user, const struct pcap_pkthdr *header, const u_char *bytes) {
    cpcapture *capture = (cpcapture *)user;
    if (!cpcapture__source_wants(&capture->source, header, bytes)) return;
    cpcapture__writer_packet(&capture->writer, header, bytes);
}

void cpcapture__count_drops(cpcapture *capture) {
    struct pcap_stat statistics;
    if (!capture->source.handle || pcap_stats(capture->source.handle, &statistics) != 0) return;
    capture->writer.counts.dropped_by_kernel = capture->lost_with_handles + statistics.ps_drop;
    capture->writer.counts.dropped_by_interface = capture->interface_lost_with_handles + statistics.ps_ifdrop;
}

void cpcapture__publish(cpcapture *capture, int error) {
    const cpcapture__counts *counts = &capture->writer.counts;
    pthread_mutex_lock(&capture->lock);
    capture->state = (cpcapture_state){
        .packets = counts->packets, .written = counts->written, .unwritten = counts->unwritten,
        .dropped_by_kernel = counts->dropped_by_kernel, .dropped_by_interface = counts->dropped_by_interface,
        .files = capture->writer.number, .error = error, .first_file = capture->writer.first};
    pthread_mutex_unlock(&capture->lock);
}

static void lose_source(cpcapture *capture) {
    cpcapture__count_drops(capture);
    capture->lost_with_handles = capture->writer.counts.dropped_by_kernel;
    capture->interface_lost_with_handles = capture->writer.counts.dropped_by_interface;
    cpcapture__source_close(&capture->source);
}

/* The interface is back, if it has a link layer like before: a file has only one. */
static int reopen(cpcapture *capture) {
    char text[PCAP_ERRBUF_SIZE + 64];
    int error = cpcapture__source_open(&capture->source, &capture->options, text, sizeof text);
    if (error) return error;
    error = capture->source.link_type == capture->writer.link_type ? 0 : -EPROTOTYPE;
    if (!error) error = cpcapture__source_filter(&capture->source, capture->filter);
    if (error) cpcapture__source_close(&capture->source);
    return error;
}

/* Returns 0 or why nothing can be captured or written at present. */
static int read_packets(cpcapture *capture) {
    if (!capture->source.handle) {
        int error = reopen(capture);
        if (error) return error;
    }
    uint64_t begun_ms = now_ms();
    if (pcap_dispatch(capture->source.handle, -1, take_packet, (u_char *)capture) < 0) {
        lose_source(capture);
        (void)cpcapture__writer_flush(&capture->writer);
        return -ENETDOWN;
    }
    cpcapture__source_was_read(&capture->source, begun_ms);
    cpcapture__count_drops(capture);
    return cpcapture__writer_flush(&capture->writer);
}

static void take_filter(cpcapture *capture) {
    pthread_mutex_lock(&capture->lock);
    char *filter = capture->wanted_filter;
    pthread_mutex_unlock(&capture->lock);
    if (!filter) return;
    int status = capture->source.handle ? cpcapture__source_filter(&capture->source, filter) : 0;
    if (status == 0) {
        free(capture->filter);
        capture->filter = filter;
    } else {
        free(filter);
    }
    pthread_mutex_lock(&capture->lock);
    capture->wanted_filter = NULL;
    capture->filter_status = status;
    pthread_cond_broadcast(&capture->answered);
    pthread_mutex_unlock(&capture->lock);
}

static int is_closing(cpcapture *capture) {
    pthread_mutex_lock(&capture->lock);
    int closing = capture->is_closing;
    pthread_mutex_unlock(&capture->lock);
    return closing;
}

static void drain(cpcapture *capture) {
    uint64_t until = now_ms() + CPCAPTURE__LAG_MS;
    for (uint64_t now; capture->source.handle && (now = now_ms()) < until;) {
        struct pollfd packets = {.fd = pcap_get_selectable_fd(capture->source.handle), .events = POLLIN};
        (void)poll(&packets, 1, (int)(until - now));
        (void)read_packets(capture);
    }
}

static void begin_thread(cpcapture *capture) {
    pthread_mutex_lock(&capture->lock);
    cping__recoverer_begin(&capture->recoverer);
    pthread_cond_broadcast(&capture->answered);
    pthread_mutex_unlock(&capture->lock);
}

void *cpcapture__run(void *argument) {
    cpcapture *capture = argument;
    begin_thread(capture);
    uint64_t next_sync = now_ms() + SYNC_MS;
    while (!is_closing(capture)) {
        int fd = capture->source.handle ? pcap_get_selectable_fd(capture->source.handle) : -1;
        struct pollfd ends[2] = {{.fd = capture->wakeup, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
        uint64_t now = now_ms();
        int timeout = now < next_sync ? (int)(next_sync - now) : 0;
        (void)poll(ends, 2, fd < 0 && timeout > REOPEN_MS ? REOPEN_MS : timeout);
        uint64_t wakeups;
        if (ends[0].revents & POLLIN && read(capture->wakeup, &wakeups, sizeof wakeups) < 0) continue;
        take_filter(capture);
        cpcapture__publish(capture, read_packets(capture));
        if (now_ms() >= next_sync) {
            cpcapture__writer_sync(&capture->writer);
            next_sync = now_ms() + SYNC_MS;
        }
    }
    drain(capture);
    take_filter(capture);
    return NULL;
}

#endif
