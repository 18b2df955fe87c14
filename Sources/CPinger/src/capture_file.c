#if CPINGER_CAPTURE

#define _GNU_SOURCE
#include "capture_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture_numbers.h"

enum { BUFFER = 256 * 1024, LONGEST_FILTER = 4096 };
enum { SECTION_HEADER = 0x0A0D0D0A, INTERFACE = 1, STATISTICS = 5, PACKET = 6 };

static uint64_t realtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- Blocks, in the byte order of the host, which the section header contains ---- */

typedef struct block {
    uint8_t *bytes;
    size_t length;
} block;

static void put(block *block, const void *bytes, size_t length) {
    memcpy(block->bytes + block->length, bytes, length);
    block->length += length;
    while (block->length % 4) block->bytes[block->length++] = 0;
}

static void put32(block *block, uint32_t value) {
    put(block, &value, sizeof value);
}

/* A time is two words, the upper one first, whatever the byte order. */
static void put_time(block *block, uint64_t ns) {
    put32(block, (uint32_t)(ns >> 32));
    put32(block, (uint32_t)ns);
}

static void put_option(block *block, uint16_t code, const void *bytes, size_t length) {
    uint16_t head[2] = {code, (uint16_t)length};
    put(block, head, sizeof head);
    put(block, bytes, length);
}

static void put_time_option(block *block, uint16_t code, uint64_t ns) {
    uint32_t words[2] = {(uint32_t)(ns >> 32), (uint32_t)ns};
    put_option(block, code, words, sizeof words);
}

static void put_count_option(block *block, uint16_t code, uint64_t count) {
    put_option(block, code, &count, sizeof count);
}

static block begin(uint8_t *bytes, uint32_t type) {
    block block = {.bytes = bytes};
    put32(&block, type);
    put32(&block, 0);
    return block;
}

/* The length stands at both ends of a block. */
static size_t end(block *block) {
    uint32_t length = (uint32_t)block->length + 4;
    memcpy(block->bytes + 4, &length, sizeof length);
    put32(block, length);
    return block->length;
}

static size_t header(const cpcapture__layout *layout, uint8_t *bytes) {
    static const char program[] = "coverage-probe";
    block section = begin(bytes, SECTION_HEADER);
    put32(&section, 0x1A2B3C4D);
    uint16_t version[2] = {1, 0};
    put(&section, version, sizeof version);
    put32(&section, UINT32_MAX);  /* the section's length is not given */
    put32(&section, UINT32_MAX);
    put_option(&section, 4, program, sizeof program - 1);
    put32(&section, 0);
    size_t length = end(&section);

    block interface = begin(bytes + length, INTERFACE);
    uint16_t link_type[2] = {layout->link_type, 0};
    put(&interface, link_type, sizeof link_type);
    put32(&interface, layout->snapshot);
    put_option(&interface, 2, layout->interface_name, strlen(layout->interface_name));
    uint8_t nanoseconds = 9;
    put_option(&interface, 9, &nanoseconds, 1);
    size_t filter = layout->filter ? strlen(layout->filter) : 0;
    if (filter > 0 && filter < LONGEST_FILTER) {
        char option[LONGEST_FILTER + 1] = {0};  /* kind 0: an expression */
        memcpy(option + 1, layout->filter, filter);
        put_option(&interface, 11, option, filter + 1);
    }
    put32(&interface, 0);
    return length + end(&interface);
}

/* Statistics of this file alone, so that they are right when other files are removed. */
static size_t statistics(const cpcapture__writer *writer, uint8_t *bytes) {
    const cpcapture__counts *now = &writer->counts, *then = &writer->at_start;
    uint64_t kernel = now->dropped_by_kernel - then->dropped_by_kernel;
    uint64_t time = realtime();
    block block = begin(bytes, STATISTICS);
    put32(&block, 0);
    put_time(&block, time);
    put_time_option(&block, 2, writer->start_ns);
    put_time_option(&block, 3, time);
    put_count_option(&block, 5, now->dropped_by_interface - then->dropped_by_interface);
    /* The packets that passed the filter, those that the kernel dropped, and those in the file. The disk refused the rest. */
    put_count_option(&block, 6, now->written - then->written + now->unwritten - then->unwritten + kernel);
    put_count_option(&block, 7, kernel);
    put_count_option(&block, 8, now->written - then->written);
    put32(&block, 0);
    return end(&block);
}

/* ---- Files ---- */

static char *file_name(const cpcapture__writer *writer, uint32_t number) {
    char *name = NULL;
    return asprintf(&name, "%s-%04u.pcapng", writer->layout.path, number) < 0 ? NULL : name;
}

/* All or nothing: a part that was written is cut off again, so that the file ends with a whole block. */
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
    uint32_t newest = cpcapture__newest_number(writer->layout.path);
    writer->number = newest > taken ? newest : taken;
    writer->first = writer->number + 1;
}

static void remove_oldest(const cpcapture__writer *writer, uint32_t number) {
    if (number - writer->first < writer->layout.file_count) return;
    char *name = file_name(writer, number - writer->layout.file_count);
    if (name) unlink(name);
    free(name);
}

static int create_numbered(cpcapture__writer *writer, uint32_t number) {
    uint8_t bytes[LONGEST_FILTER + 256];
    remove_oldest(writer, number);
    char *name = file_name(writer, number);
    if (!name) return -ENOMEM;
    writer->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    int error = writer->fd < 0 ? -errno : 0;
    writer->size = 0;
    if (!error) error = write_whole(writer, bytes, header(&writer->layout, bytes));
    if (error && writer->fd >= 0) {
        close(writer->fd);
        writer->fd = -1;
        unlink(name);
    }
    free(name);
    if (error) return error;
    writer->number = number;
    writer->start_ns = realtime();
    writer->at_start = writer->counts;
    return 0;
}

static int create(cpcapture__writer *writer) {
    int error;
    /* Another capture with the same path can use a number at any moment. */
    while ((error = create_numbered(writer, writer->number + 1)) == -EEXIST) begin_after(writer, writer->number + 1);
    return error;
}

static void complete(cpcapture__writer *writer) {
    uint8_t bytes[256];
    if (writer->fd < 0) return;
    (void)write_whole(writer, bytes, statistics(writer, bytes));
    cpcapture__writer_sync(writer);
    close(writer->fd);
    writer->fd = -1;
}

int cpcapture__writer_flush(cpcapture__writer *writer) {
    int error = writer->fd < 0 ? create(writer) : 0;
    if (error || writer->pending_length == 0) return error;
    error = write_whole(writer, writer->pending, writer->pending_length);
    if (error) return error;
    writer->counts.written += writer->pending_packets;
    writer->pending_length = writer->pending_packets = 0;
    return 0;
}

void cpcapture__writer_sync(cpcapture__writer *writer) {
    if (writer->fd >= 0 && writer->is_unsynced && fdatasync(writer->fd) == 0) writer->is_unsynced = 0;
}

/* The file stays the current one as long as the disk refuses something of it. */
static void make_room(cpcapture__writer *writer, size_t length) {
    enum { STATISTICS_LENGTH = 128 };
    uint64_t wanted = writer->size + writer->pending_length + length + STATISTICS_LENGTH;
    int is_full = writer->fd >= 0 && wanted > writer->layout.file_size;
    if (!is_full && writer->pending_length + length <= BUFFER) return;
    if (cpcapture__writer_flush(writer) != 0 || !is_full) return;
    complete(writer);
    (void)cpcapture__writer_flush(writer);
}

void cpcapture__writer_packet(cpcapture__writer *writer, uint64_t realtime_ns, const uint8_t *bytes, uint32_t captured,
                              uint32_t length) {
    size_t room = 32 + (captured + 3) / 4 * 4;
    writer->counts.packets++;
    make_room(writer, room);
    if (writer->pending_length + room > BUFFER) {
        writer->counts.unwritten++;
        return;
    }
    block block = begin(writer->pending + writer->pending_length, PACKET);
    put32(&block, 0);
    put_time(&block, realtime_ns);
    put32(&block, captured);
    put32(&block, length);
    put(&block, bytes, captured);
    writer->pending_length += end(&block);
    writer->pending_packets++;
}

/* ---- Beginning and end ---- */

static void free_memory(cpcapture__writer *writer) {
    free(writer->layout.path);
    free(writer->layout.filter);
    free(writer->pending);
    writer->layout.path = writer->layout.filter = NULL;
    writer->pending = NULL;
}

int cpcapture__writer_open(cpcapture__writer *writer, const cpcapture__layout *layout) {
    *writer = (cpcapture__writer){.layout = *layout, .fd = -1, .pending = malloc(BUFFER)};
    int error = !writer->pending || !layout->path ? -ENOMEM : 0;
    if (!error) begin_after(writer, 0);
    if (!error) error = create(writer);
    if (error) free_memory(writer);
    return error;
}

void cpcapture__writer_set_filter(cpcapture__writer *writer, char *filter) {
    free(writer->layout.filter);
    writer->layout.filter = filter;
}

void cpcapture__writer_close(cpcapture__writer *writer) {
    if (cpcapture__writer_flush(writer) != 0) writer->counts.unwritten += writer->pending_packets;
    complete(writer);
    free_memory(writer);
}

#endif
