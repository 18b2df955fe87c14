/* Capture files: libpcap writes their format, with stamps in nanoseconds. Each is complete in itself, and whatever happens ends with a whole
 * packet. */
#pragma once

#include <pcap/pcap.h>

#include "cpcapture.h"

/* Counters of packets since the start. */
typedef struct cpcapture__counts {
    uint64_t packets;  /* given to the writer */
    uint64_t written;  /* in a file */
    uint64_t unwritten;
    uint64_t dropped_by_kernel, dropped_by_interface;  /* set by the capture's thread */
} cpcapture__counts;

typedef struct cpcapture__writer {
    char *path;  /* without number and suffix */
    uint64_t file_size;
    uint32_t file_count;
    int link_type;  /* DLT_... */
    cpcapture__counts counts;
    uint32_t number;  /* of the newest file that is there, of whatever capture; 0: none */
    uint32_t first;   /* of the first file that is this writer's */

    int fd;         /* -1: the next file could not be created yet */
    uint64_t size;  /* whole packets in the file, and its header */
    int is_unsynced;

    uint8_t header[sizeof(struct pcap_file_header)];
    uint8_t *pending;       /* whole packets that are not in the file yet, in its format */
    pcap_dumper_t *dumper;  /* writes there */
    size_t pending_length;
    uint32_t pending_packets;
} cpcapture__writer;

/* Creates the first file: 0 or a negative errno. Takes path, limits and snapshot from `options`. */
int cpcapture__writer_open(cpcapture__writer *writer, const cpcapture_options *options, int link_type);

/* Appends a packet with a stamp in nanoseconds. Packets that the disk refuses stay in memory while there is room. */
void cpcapture__writer_packet(cpcapture__writer *writer, const struct pcap_pkthdr *header, const uint8_t *bytes);

/* Writes the packets in memory: 0 or a negative errno. */
int cpcapture__writer_flush(cpcapture__writer *writer);

/* Syncs the file to disk. */
void cpcapture__writer_sync(cpcapture__writer *writer);

/* Completes the file and frees the writer's memory; counts stay readable. */
void cpcapture__writer_close(cpcapture__writer *writer);
