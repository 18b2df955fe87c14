#if CPINGER_CAPTURE

#define _GNU_SOURCE
#include "capture_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PACKET: the header of a packet in a file. */
enum { BUFFER = 256 * 1024, PACKET = 16 };

/* ---- Names ---- */

/* 0: `name` is no file of a capture whose path ends with `base`. */
static uint32_t number_of(const char *name, const char *base) {
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '-') return 0;
    const char *number = name + length + 1;
    size_t digits = strspn(number, "0123456789");
    if (digits < 4 || digits > 9 || strcmp(number + digits, ".pcap") != 0) return 0;
    return (uint32_t)strtoul(number, NULL, 10);
}

/* The greatest file number under this path, from any capture; 0: there is none, or the directory cannot be read. */
static uint32_t newest_number(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    DIR *directory = folder ? opendir(folder) : NULL;
    uint32_t newest = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        uint32_t number = number_of(entry->d_name, slash ? slash + 1 : path);
        if (number > newest) newest = number;
    }
    if (directory) closedir(directory);
    free(folder);
    return newest;
}

static char *file_name(const cpcapture__writer *writer, uint32_t number) {
    char *name = NULL;
    return asprintf(&name, "%s-%04u.pcap", writer->path, number) < 0 ? NULL : name;
}

/* ---- Files ---- */

/* All or nothing: a part that was written is cut off again, so that the file ends with a whole packet. libpcap's own buffer would lose
 * what the disk refuses. */
static int write_whole(cpcapture__writer *writer, const uint8_t *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t n = pwrite(writer->fd, bytes + done, length - done, (off_t)(writer->size + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            int error = n < 0 ? -errno : -EIO;
            if (done > 0 && ftruncate(writer->fd, (off_t)writer->size) != 0) return -errno;
            return error;
        }
        done += (size_t)n;
    }
    writer->size += length;
    writer->is_unsynced = 1;
    return 0;
}

/* Numbers continue behind existing files, which belong to other captures and stay. */
static void begin_after(cpcapture__writer *writer, uint32_t taken) {
    uint32_t newest = newest_number(writer->path);
    writer->number = newest > taken ? newest : taken;
    writer->first = writer->number + 1;
}

static void remove_oldest(const cpcapture__writer *writer, uint32_t number) {
    if (number - writer->first < writer->file_count) return;
    char *name = file_name(writer, number - writer->file_count);
    if (name) unlink(name);
    free(name);
}

static int create_numbered(cpcapture__writer *writer, uint32_t number) {
    remove_oldest(writer, number);
    char *name = file_name(writer, number);
    if (!name) return -ENOMEM;
    writer->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    int error = writer->fd < 0 ? -errno : 0;
    writer->size = 0;
    if (!error) error = write_whole(writer, writer->header, sizeof writer->header);
    if (error && writer->fd >= 0) {
        close(writer->fd);
        writer->fd = -1;
        unlink(name);
    }
    free(name);
    if (!error) writer->number = number;
    return error;
}

static int create(cpcapture__writer *writer) {
    int error;
    /* Another capture with the same path can use a number at any moment. */
    while ((error = create_numbered(writer, writer->number + 1)) == -EEXIST) begin_after(writer, writer->number + 1);
    return error;
}

static void complete(cpcapture__writer *writer) {
    if (writer->fd < 0) return;
    cpcapture__writer_sync(writer);
    close(writer->fd);
    writer->fd = -1;
}

int cpcapture__writer_flush(cpcapture__writer *writer) {
    int error = writer->fd < 0 ? create(writer) : 0;
    if (error || writer->pending_length == 0) return error;
    error = write_whole(writer, writer->pending, writer->pending_length);
    if (error) return error;
    rewind(pcap_dump_file(writer->dumper));
    writer->counts.written += writer->pending_packets;
    writer->pending_length = writer->pending_packets = 0;
    return 0;
}

void cpcapture__writer_sync(cpcapture__writer *writer) {
    if (writer->fd >= 0 && writer->is_unsynced && fdatasync(writer->fd) == 0) writer->is_unsynced = 0;
}

/* The file stays the current one as long as the disk refuses something of it. */
static void make_room(cpcapture__writer *writer, size_t length) {
    int is_full = writer->fd >= 0 && writer->size + writer->pending_length + length > writer->file_size;
    if (!is_full && writer->pending_length + length <= BUFFER) return;
    if (cpcapture__writer_flush(writer) != 0 || !is_full) return;
    complete(writer);
    (void)cpcapture__writer_flush(writer);
}

void cpcapture__writer_packet(cpcapture__writer *writer, const struct pcap_pkthdr *header, const uint8_t *bytes) {
    size_t room = PACKET + header->caplen;
    writer->counts.packets++;
    make_room(writer, room);
    if (writer->pending_length + room > BUFFER) {
        writer->counts.unwritten++;
        return;
    }
    pcap_dump((u_char *)writer->dumper, header, bytes);
    writer->pending_length += room;
    writer->pending_packets++;
}

/* ---- Beginning and end ---- */

static void free_memory(cpcapture__writer *writer) {
    if (writer->dumper) pcap_dump_close(writer->dumper);
    free(writer->path);
    free(writer->pending);
    writer->dumper = NULL;
    writer->path = NULL;
    writer->pending = NULL;
}

/* libpcap writes to memory, which holds the header now. */
static int open_dumper(cpcapture__writer *writer, const cpcapture_options *options) {
    pcap_t *format = pcap_open_dead_with_tstamp_precision(writer->link_type, (int)options->snapshot, PCAP_TSTAMP_PRECISION_NANO);
    /* A byte more: the C library ends what it writes to memory with a zero. */
    FILE *memory = format && writer->pending ? fmemopen(writer->pending, BUFFER + 1, "w") : NULL;
    if (memory) {
        setvbuf(memory, NULL, _IONBF, 0);
        writer->dumper = pcap_dump_fopen(format, memory);
    }
    if (format) pcap_close(format);
    if (!writer->dumper) return -ENOMEM;
    memcpy(writer->header, writer->pending, sizeof writer->header);
    rewind(memory);
    return 0;
}

int cpcapture__writer_open(cpcapture__writer *writer, const cpcapture_options *options, int link_type) {
    *writer = (cpcapture__writer){.path = strdup(options->path), .file_size = options->file_size, .file_count = options->file_count,
                                  .link_type = link_type, .fd = -1, .pending = malloc(BUFFER + 1)};
    int error = writer->path ? open_dumper(writer, options) : -ENOMEM;
    if (!error) begin_after(writer, 0);
    if (!error) error = create(writer);
    if (error) free_memory(writer);
    return error;
}

void cpcapture__writer_close(cpcapture__writer *writer) {
    if (cpcapture__writer_flush(writer) != 0) writer->counts.unwritten += writer->pending_packets;
    complete(writer);
    free_memory(writer);
}

#endif
