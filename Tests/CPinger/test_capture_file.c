/* The filter and the files of a capture alone, without privileges. */
#define _GNU_SOURCE
#include "support.h"

#if !CPINGER_CAPTURE

int main(void) {
    skip("built without libpcap");
}

#else

#include <errno.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "bytes.h"
#include "capture_file.h"
#include "capture_filter.h"

static char folder[] = "/tmp/cp-cap-XXXXXX";

static char *path(const char *name) {
    static char text[4][128];
    static unsigned next;
    char *result = text[next++ % 4];
    snprintf(result, sizeof text[0], "%s/%s", folder, name);
    return result;
}

static long size_of(const char *name) {
    struct stat file;
    return stat(path(name), &file) == 0 ? (long)file.st_size : -1;
}

/* Counts with libpcap, which must accept the whole file. */
static unsigned packets_in(const char *name) {
    char message[PCAP_ERRBUF_SIZE];
    pcap_t *file = pcap_open_offline_with_tstamp_precision(path(name), PCAP_TSTAMP_PRECISION_NANO, message);
    CHECK(file != NULL);
    CHECK_EQUAL(pcap_datalink(file), DLT_RAW);
    struct pcap_pkthdr *header;
    const uint8_t *bytes;
    unsigned count = 0;
    int status;
    while ((status = pcap_next_ex(file, &header, &bytes)) == 1) {
        CHECK(header->ts.tv_sec == 1 && header->ts.tv_usec == 999999999 && header->caplen == 100 && header->len == 1000);
        CHECK_EQUAL(bytes[0], 0x45);
        count++;
    }
    CHECK_EQUAL(status, PCAP_ERROR_BREAK);
    pcap_close(file);
    return count;
}

/* ---- The filter alone ---- */

static void test_filter_text(void) {
    cpcapture_flow flow = {.protocol = CPING_RTR, .local = 4000};
    CHECK_EQUAL(cping_address_parse(&flow.remote, "192.0.2.1", 444), 0);
    char *text = cpcapture__filter_text(&flow, 1);
    CHECK(strcmp(text, "(ip and udp dst port 444 and udp src port 4000 and dst host 192.0.2.1) or "
                       "(ip and udp src port 444 and udp dst port 4000 and src host 192.0.2.1) or "
                       "(icmp and (icmp[0] == 3 or icmp[0] == 4 or icmp[0] == 5 or icmp[0] == 11 or icmp[0] == 12) and "
                       "icmp[17] == 17 and icmp[24:4] == 0xc0000201 and icmp[28:2] == 4000 and icmp[30:2] == 444)") == 0);
    free(text);
    /* A thousand hosts behind one socket make one condition. */
    cpcapture_flow many[1000];
    for (int i = 0; i < 1000; i++) {
        many[i] = flow;
        cping__put32(many[i].remote.bytes, 0x0a000000u + (unsigned)i);
    }
    text = cpcapture__filter_text(many, 1000);
    CHECK(strlen(text) < 400);
    CHECK(strstr(text, "host") == NULL);
    free(text);
}

/* ---- A disk that is full for a while ---- */

static void limit_files(rlim_t size) {
    struct rlimit limit;
    CHECK_EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size;
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_full_disk(void) {
    signal(SIGXFSZ, SIG_IGN);
    uint8_t packet[100] = {0x45};
    cpcapture__writer writer;
    cpcapture_options options = {.path = path("full"), .file_size = 1 << 20, .file_count = 4, .snapshot = 160};
    struct pcap_pkthdr header = {.ts = {1, 999999999}, .caplen = sizeof packet, .len = 1000};
    CHECK_EQUAL(cpcapture__writer_open(&writer, &options, DLT_RAW), 0);
    for (int i = 0; i < 10; i++) cpcapture__writer_packet(&writer, &header, packet);
    CHECK_EQUAL(cpcapture__writer_flush(&writer), 0);
    uint64_t size = writer.size;
    CHECK_EQUAL(size, 24 + 10 * (16 + sizeof packet));
    /* Half a packet fits: the file keeps only complete ones. */
    limit_files(size + 66);
    for (int i = 0; i < 3000; i++) cpcapture__writer_packet(&writer, &header, packet);
    CHECK_EQUAL(cpcapture__writer_flush(&writer), -EFBIG);
    CHECK_EQUAL(size_of("full-0001.pcap"), (long)size);
    CHECK_EQUAL(writer.counts.packets, 3010);
    CHECK(writer.counts.unwritten == 3000 - 256 * 1024 / (16 + sizeof packet));
    uint64_t unwritten = writer.counts.unwritten;
    limit_files(RLIM_INFINITY);
    CHECK_EQUAL(cpcapture__writer_flush(&writer), 0);
    cpcapture__writer_close(&writer);
    CHECK_EQUAL(writer.counts.written + unwritten, 3010);
    CHECK_EQUAL(packets_in("full-0001.pcap"), writer.counts.written);
}

static void remove_folder(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) fprintf(stderr, "left behind: %s\n", folder);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    test_filter_text();
    test_full_disk();
    return 0;
}

#endif
