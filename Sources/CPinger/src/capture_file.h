/* pcapng files: a section header, one interface, packets, and a statistics block at the end. Each is complete in itself, and
 * whatever happens ends with a whole block. libpcap itself writes only the older format. */
#ifndef CPCAPTURE__FILE_H
#define CPCAPTURE__FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cpcapture__layout {
    char *path;  /* without number and suffix; the writer frees it */
    uint64_t file_size;
    uint32_t file_count;
    uint32_t snapshot;
    uint16_t link_type;  /* as in files: LINKTYPE_... */
    char interface_name[16];
    char *filter;  /* its expression, for the reader's information, or NULL; the writer frees it */
} cpcapture__layout;

/* Counters of packets since the start. */
typedef struct cpcapture__counts {
    uint64_t packets;  /* given to the writer */
    uint64_t written;  /* in a file */
    uint64_t unwritten;
    uint64_t dropped_by_kernel, dropped_by_interface;  /* set by the capture's thread */
} cpcapture__counts;

typedef struct cpcapture__writer {
    cpcapture__layout layout;
    cpcapture__counts counts;
    uint32_t number;  /* of the newest file that is there, of whatever capture; 0: none */
    uint32_t first;   /* of the first file that is this writer's */

    int fd;                      /* -1: the next file could not be created yet */
    uint64_t size;               /* whole blocks in the file */
    uint64_t start_ns;           /* CLOCK_REALTIME */
    cpcapture__counts at_start;  /* of the file */
    int is_unsynced;

    uint8_t *pending;  /* whole blocks that are not in the file yet */
    size_t pending_length;
    uint32_t pending_packets;
} cpcapture__writer;

/* Creates the first file: 0 or a negative errno. Takes over the strings of `layout` in any case. */
int cpcapture__writer_open(cpcapture__writer *writer, const cpcapture__layout *layout);

/* Appends `captured` bytes of a packet of `length` bytes. Packets that the disk refuses stay in memory while there is room. */
void cpcapture__writer_packet(cpcapture__writer *writer, uint64_t realtime_ns, const uint8_t *bytes, uint32_t captured,
                              uint32_t length);

/* Writes the packets in memory: 0 or a negative errno. */
int cpcapture__writer_flush(cpcapture__writer *writer);

/* Syncs the file to disk. */
void cpcapture__writer_sync(cpcapture__writer *writer);

/* Sets the filter expression in the following files; takes ownership of it. */
void cpcapture__writer_set_filter(cpcapture__writer *writer, char *filter);

/* Completes the file and frees the writer's memory; counts stay readable. */
void cpcapture__writer_close(cpcapture__writer *writer);

#endif
