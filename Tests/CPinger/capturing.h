/* Shared by the capture tests: real pings in a namespace of the test's own, with a capture beside them. libpcap, an independent
 * reader, reads the files. */
#ifndef CAPTURING_H
#define CAPTURING_H

#include <errno.h>
#include <pcap/pcap.h>
#include <sys/stat.h>
#include <time.h>

#include "bytes.h"
#include "cpcapture.h"
#include "namespaces.h"

static char folder[] = "/tmp/cp-cap-XXXXXX";

static inline char *path(const char *name) {
    static char text[4][128];
    static unsigned next;
    char *result = text[next++ % 4];
    snprintf(result, sizeof text[0], "%s/%s", folder, name);
    return result;
}

/* ---- Reading ---- */

struct packets {
    unsigned requests, replies, errors, foreign;
    uint64_t sent_ns[1024], rtt_ns[1024];
};

/* The IP packet behind the link layer's header, if there is one. */
static inline const uint8_t *network(int link_type, const uint8_t *bytes) {
    return link_type == DLT_LINUX_SLL2 ? bytes + 20 : link_type == DLT_EN10MB ? bytes + 14 : bytes;
}

static inline void classify(struct packets *packets, const uint8_t *ip, uint64_t ns) {
    int six = ip[0] >> 4 == 6;
    const uint8_t *transport = ip + (six ? 40 : 20);
    uint8_t protocol = six ? ip[6] : ip[9];
    const uint8_t *payload = transport + 8;
    if (protocol == 17 && memcmp(payload, "RP01", 4) == 0) {
        packets->requests++;
        packets->sent_ns[cping__get32(payload + 4) % 1024] = ns;
    } else if (protocol == 17 && memcmp(payload, "RR01", 4) == 0) {
        packets->replies++;
        uint32_t i = cping__get32(payload + 4) % 1024;
        packets->rtt_ns[i] = ns - packets->sent_ns[i];
    } else if ((protocol == 1 && transport[0] == 8) || (protocol == 58 && transport[0] == 128)) {
        packets->requests++;
    } else if ((protocol == 1 && transport[0] == 0) || (protocol == 58 && transport[0] == 129)) {
        packets->replies++;
    } else if ((protocol == 1 && transport[0] == 3) || (protocol == 58 && transport[0] == 1)) {
        packets->errors++;
    } else {
        packets->foreign++;
    }
}

static inline void read_file(const char *name, struct packets *packets) {
    char message[PCAP_ERRBUF_SIZE];
    pcap_t *file = pcap_open_offline_with_tstamp_precision(path(name), PCAP_TSTAMP_PRECISION_NANO, message);
    CHECK(file != NULL);
    struct pcap_pkthdr *header;
    const uint8_t *bytes;
    int status;
    while ((status = pcap_next_ex(file, &header, &bytes)) == 1) {
        classify(packets, network(pcap_datalink(file), bytes),
                 (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec);
    }
    CHECK_EQUAL(status, PCAP_ERROR_BREAK);
    pcap_close(file);
}

/* ---- Pinging with a capture beside ---- */

static inline cpcapture *open_capture(const char *name, const char *interface_name, uint64_t file_size, uint32_t file_count) {
    char text[200] = "";
    cpcapture *capture;
    cpcapture_options options = {.path = path(name), .interface_name = interface_name, .file_size = file_size,
                                 .file_count = file_count};
    int error = cpcapture_open(&options, &capture, text, sizeof text);
    if (error) fprintf(stderr, "%s\n", text);
    CHECK_EQUAL(error, 0);
    return capture;
}

/* Runs a target and captures it from its first ping on; replaces the filter `follow_again` times meanwhile. Stores the reported
 * round-trip times in `rtt` by sequence. */
static inline struct outcome ping(cpcapture *capture, const cping_target *target, int64_t *rtt, int follow_again) {
    struct outcome outcome = {0};
    cping *pinger;
    CHECK_EQUAL(cping_create(NULL, &pinger), 0);
    int64_t id = cping_add(pinger, target);
    CHECK(id > 0);
    cping_target_info info;
    cpcapture_flow flow;
    CHECK_EQUAL(cping_inspect(pinger, id, &info), 0);
    cpcapture_flow_of(target, &info, &flow);
    CHECK(flow.local != 0);
    CHECK_EQUAL(cpcapture_follow(capture, &flow, 1), 0);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    while (!outcome.finished) {
        cping_event events[16];
        CHECK_EQUAL(cping_wait(pinger, 10000), 1);
        size_t count = cping_read(pinger, events, 16);
        for (size_t i = 0; i < count; i++) {
            collect(&outcome, &events[i]);
            if (rtt && events[i].kind == CPING_ANSWERED) rtt[events[i].sequence % 1024] = events[i].rtt_ns;
        }
        for (; follow_again > 0 && !outcome.finished; follow_again--) {
            cpcapture_flow more[2] = {flow, {.protocol = CPING_RTR, .local = 9, .remote = flow.remote}};
            CHECK_EQUAL(cpcapture_follow(capture, more, 1 + follow_again % 2), 0);
        }
    }
    cping_destroy(pinger);
    return outcome;
}

/* A target with a token for this end of the link. */
static inline cping_target link_target(const char *address, uint16_t port, uint64_t count) {
    cping_target target = rtr_target(address, port, count), own;
    if (strcmp(address, "10.77.0.2") == 0) own = rtr_target("10.77.0.1", port, count);
    else if (strcmp(address, "fd77::2") == 0) own = rtr_target("fd77::1", port, count);
    else return target;
    memcpy(target.token, own.token, sizeof target.token);
    return target;
}

static inline cping_target echo_target(const char *address, uint64_t count) {
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .interval_ns = 5000000,
                           .timeout_ns = 200000000, .count = count};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, 0), 0);
    return target;
}

/* ---- The link ---- */

static inline void add_link(pid_t server) {
    run_command("ip link add cp-cap-0 type veth peer name cp-cap-1 netns %d; ip address add 10.77.0.1/24 dev cp-cap-0; "
                "ip address add fd77::1/64 dev cp-cap-0 nodad; ip link set cp-cap-0 up", server);
    run_command("nsenter -t %d -n sh -c 'ip address add 10.77.0.2/24 dev cp-cap-1; ip address add fd77::2/64 dev cp-cap-1 "
                "nodad; ip link set cp-cap-1 up; sysctl -qw net.ipv4.icmp_ratemask=0 net.ipv6.icmp.ratelimit=0'", server);
    await_answer("fd77::2");
    await_answer("10.77.0.2");
}

/* Reflectors behind the link (`far`) and on loopback, and a folder for the files. */
struct scene {
    pid_t server;
    struct reflector far, local;
};

static inline void remove_folder(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) fprintf(stderr, "left behind: %s\n", folder);
}

static inline struct scene set_scene(void) {
    struct scene scene;
    CHECK(mkdtemp(folder) != NULL);
    if (!getenv("KEEP_CAPTURES")) atexit(remove_folder);
    enter_new_namespace();
    scene.server = hold_namespace();
    add_link(scene.server);
    int here = open_namespace(0), there = open_namespace(scene.server);
    switch_namespace(there);
    scene.far = REFLECT("--listen", "10.77.0.2", "--listen", "fd77::2");
    switch_namespace(here);
    scene.local = REFLECT("--listen", "127.0.0.1", "--listen", "::1");
    return scene;
}

static inline void clear_scene(struct scene scene) {
    reflector_stop(scene.local);
    reflector_stop(scene.far);
    release_namespace(scene.server);
    if (getenv("KEEP_CAPTURES")) printf("kept: %s\n", folder);
}

#endif
