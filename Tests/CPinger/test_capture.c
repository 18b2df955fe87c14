/* Capturing real pings in a namespace of the test's own. */
#define _GNU_SOURCE
#include "support.h"

#if !CPINGER_CAPTURE

int main(void) {
    skip("built without libpcap");
}

#else

#include <errno.h>
#include <pcap/pcap.h>
#include <sys/stat.h>
#include <time.h>

#include "bytes.h"
#include "cpcapture.h"
#include "namespaces.h"

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

/* ---- Reading with libpcap, which is not ours ---- */

struct packets {
    unsigned requests, replies, errors, foreign;
    uint64_t sent_ns[1024], rtt_ns[1024];
};

/* The IP packet behind a cooked header or none. */
static const uint8_t *network(int link_type, const uint8_t *bytes) {
    return link_type == DLT_LINUX_SLL2 ? bytes + 20 : link_type == DLT_EN10MB ? bytes + 14 : bytes;
}

static void classify(struct packets *packets, const uint8_t *ip, uint64_t ns) {
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

static void read_file(const char *name, struct packets *packets) {
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

static cpcapture *open_capture(const char *name, const char *interface_name, uint64_t file_size, uint32_t file_count) {
    char text[200] = "";
    cpcapture *capture;
    cpcapture_options options = {.path = path(name), .interface_name = interface_name, .file_size = file_size,
                                 .file_count = file_count};
    int error = cpcapture_open(&options, &capture, text, sizeof text);
    if (error) fprintf(stderr, "%s\n", text);
    CHECK_EQUAL(error, 0);
    return capture;
}

/* Runs a target that is captured from its first ping on; `follow_again` times more the filter is replaced meanwhile. The
 * reported round-trip times go to `rtt` by sequence. */
static struct outcome ping(cpcapture *capture, const cping_target *target, int64_t *rtt, int follow_again) {
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

/* With a token for this end of the link. */
static cping_target link_target(const char *address, uint16_t port, uint64_t count) {
    cping_target target = rtr_target(address, port, count), own;
    if (strcmp(address, "10.77.0.2") == 0) own = rtr_target("10.77.0.1", port, count);
    else if (strcmp(address, "fd77::2") == 0) own = rtr_target("fd77::1", port, count);
    else return target;
    memcpy(target.token, own.token, sizeof target.token);
    return target;
}

static cping_target echo_target(const char *address, uint64_t count) {
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .interval_ns = 5000000,
                           .timeout_ns = 200000000, .count = count};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, 0), 0);
    return target;
}

/* As the pinger saw it, so it is in the file: each ping, each reply, and the time between within 50 us at the 99th of 100. */
static void test_agreement(const char *address, uint16_t port, const char *interface_name, const char *name) {
    static int64_t rtt[1024];
    struct packets packets = {0};
    memset(rtt, 0, sizeof rtt);
    cpcapture *capture = open_capture(name, interface_name, 0, 0);
    cping_target target = link_target(address, port, 200);
    target.interval_ns = 5000000;
    struct outcome outcome = ping(capture, &target, rtt, 0);
    cpcapture_state state;
    cpcapture_close(capture, &state);
    char file[64];
    snprintf(file, sizeof file, "%s-0001.pcapng", name);
    read_file(file, &packets);
    unsigned sent = 200 - outcome.not_sent;
    CHECK_EQUAL(packets.requests, sent);
    CHECK_EQUAL(packets.replies, outcome.answered);
    CHECK_EQUAL(packets.foreign, 0);
    CHECK_EQUAL(state.packets, sent + outcome.answered);
    CHECK_EQUAL(state.written, state.packets);
    CHECK_EQUAL(state.dropped_by_kernel + state.unwritten, 0);
    unsigned far_apart = 0;
    int64_t worst = 0;
    for (int i = 0; i < 1024; i++) {
        if (!rtt[i]) continue;
        int64_t difference = llabs((int64_t)packets.rtt_ns[i] - rtt[i]);
        if (difference > worst) worst = difference;
        far_apart += difference > 50000;
    }
    printf("%s on %s: %u pings, %u of them more than 50 us apart, at most %lld ns\n", address, interface_name, sent,
           far_apart, (long long)worst);
    CHECK(far_apart <= 2);
}

/* Echoes and the errors that quote pings; nobody else's. */
static void test_kinds(uint16_t port) {
    struct packets packets = {0};
    cpcapture *capture = open_capture("kinds", "any", 0, 0);
    cping_target four = echo_target("10.77.0.2", 10), six = echo_target("fd77::2", 10);
    struct outcome outcome4 = ping(capture, &four, NULL, 0);
    struct outcome outcome6 = ping(capture, &six, NULL, 0);
    CHECK_EQUAL(outcome4.answered + outcome4.not_sent, 10);
    CHECK_EQUAL(outcome6.answered + outcome6.not_sent, 10);
    unsigned echoes = outcome4.answered + outcome6.answered;
    /* Pings of others, to the same host and to the same port. */
    run_command("ping -c 2 -i 0.2 10.77.0.2 >/dev/null");
    cping_target other = rtr_target("10.77.0.2", port, 3);
    CHECK_EQUAL(run_target(&other, 0, NULL).finished, 1);
    /* Nobody listens there: ICMP errors, of which the kernel sends a few a second. */
    cping_target closed4 = rtr_target("10.77.0.2", 9, 3), closed6 = rtr_target("fd77::2", 9, 3);
    struct outcome refused4 = ping(capture, &closed4, NULL, 0);
    struct outcome refused6 = ping(capture, &closed6, NULL, 0);
    cpcapture_close(capture, NULL);
    read_file("kinds-0001.pcapng", &packets);
    CHECK_EQUAL(packets.requests, echoes + 6 - refused4.not_sent - refused6.not_sent);
    CHECK_EQUAL(packets.replies, echoes);
    CHECK_EQUAL(packets.errors, refused4.icmp_errors + refused6.icmp_errors);
    CHECK(packets.errors >= 2);
    CHECK_EQUAL(packets.foreign, 0);
}

static void test_follow_has_no_gap(uint16_t port) {
    struct packets packets = {0};
    cpcapture *capture = open_capture("follow", "any", 0, 0);
    cping_target target = link_target("10.77.0.2", port, 900);
    target.interval_ns = 1000000;
    struct outcome outcome = ping(capture, &target, NULL, 2000);
    cpcapture_close(capture, NULL);
    read_file("follow-0001.pcapng", &packets);
    CHECK_EQUAL(packets.requests, 900 - outcome.not_sent);
    CHECK_EQUAL(packets.replies, outcome.answered);
}

static void test_rotation(uint16_t port) {
    struct packets packets = {0};
    cpcapture *capture = open_capture("rotation", "any", 8192, 3);
    cping_target target = link_target("10.77.0.2", port, 300);
    struct outcome outcome = ping(capture, &target, NULL, 0);
    cpcapture_state state;
    cpcapture_close(capture, &state);
    CHECK_EQUAL(state.written, 300 - outcome.not_sent + outcome.answered);
    CHECK(state.files >= 6);
    for (uint32_t i = 1; i <= state.files + 1; i++) {
        char name[64];
        snprintf(name, sizeof name, "rotation-%04u.pcapng", i);
        int is_kept = i + 3 > state.files && i <= state.files;
        CHECK_EQUAL(size_of(name) > 0, is_kept);
        if (!is_kept) continue;
        CHECK(size_of(name) <= 8192);
        read_file(name, &packets);
    }
    CHECK(packets.requests > 30);
    CHECK_EQUAL(packets.foreign, 0);
}

/* ---- An interface that goes and comes back ---- */

static void add_link(pid_t server) {
    run_command("ip link add cp-cap-0 type veth peer name cp-cap-1 netns %d; ip address add 10.77.0.1/24 dev cp-cap-0; "
                "ip address add fd77::1/64 dev cp-cap-0 nodad; ip link set cp-cap-0 up", server);
    run_command("nsenter -t %d -n sh -c 'ip address add 10.77.0.2/24 dev cp-cap-1; ip address add fd77::2/64 dev cp-cap-1 "
                "nodad; ip link set cp-cap-1 up; sysctl -qw net.ipv4.icmp_ratemask=0 net.ipv6.icmp.ratelimit=0'", server);
    run_command("ping -6 -c 3 -i 0.5 fd77::2 >/dev/null; ping -c 1 10.77.0.2 >/dev/null");
}

static void wait_for(cpcapture *capture, int is_well) {
    cpcapture_state state;
    for (int i = 0; i < 800; i++) {
        cpcapture_get_state(capture, &state);
        if ((state.error == 0) == is_well) return;
        usleep(10000);
    }
    CHECK_EQUAL(state.error == 0, is_well);
}

static void test_interface_returns(pid_t server) {
    struct packets packets = {0};
    cpcapture *capture = open_capture("return", "cp-cap-0", 0, 0);
    cping_target target = echo_target("10.77.0.2", 10);
    struct outcome before = ping(capture, &target, NULL, 0);
    usleep(600000);
    run_command("ip link delete cp-cap-0");
    wait_for(capture, 0);
    add_link(server);
    wait_for(capture, 1);
    struct outcome after = ping(capture, &target, NULL, 0);
    cpcapture_close(capture, NULL);
    read_file("return-0001.pcapng", &packets);
    CHECK_EQUAL(packets.requests, 20 - before.not_sent - after.not_sent);
    CHECK_EQUAL(packets.replies, before.answered + after.answered);
}

/* ---- What is refused ---- */

static int open_error(const char *name, const char *interface_name, char *text, size_t size) {
    cpcapture *capture;
    cpcapture_options options = {.path = path(name), .interface_name = interface_name};
    int error = cpcapture_open(&options, &capture, text, size);
    CHECK(capture == NULL);
    return error;
}

static void test_errors(void) {
    char text[200];
    CHECK_EQUAL(open_error("x", "none0", text, sizeof text), -ENODEV);
    CHECK(strstr(text, "none0"));
    CHECK_EQUAL(open_error("kinds", "any", text, sizeof text), -EEXIST);
    CHECK(strstr(text, "kinds-0001.pcapng"));
    CHECK_EQUAL(open_error("absent/x", "any", text, sizeof text), -ENOENT);
    pid_t child = fork();
    if (child == 0) {
        CHECK_EQUAL(setuid(65534), 0);
        CHECK_EQUAL(open_error("x", "any", text, sizeof text), -EPERM);
        CHECK(strstr(text, "CAP_NET_RAW"));
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void remove_folder(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) fprintf(stderr, "left behind: %s\n", folder);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    const char *kept = getenv("KEEP_CAPTURES");
    if (!kept) atexit(remove_folder);
    enter_new_namespace();
    pid_t server = hold_namespace();
    add_link(server);
    int here = open_namespace(0), there = open_namespace(server);
    switch_namespace(there);
    struct reflector reflector = REFLECT("--listen", "10.77.0.2", "--listen", "fd77::2");
    switch_namespace(here);
    struct reflector local = REFLECT("--listen", "127.0.0.1", "--listen", "::1");

    test_agreement("10.77.0.2", reflector.port, "cp-cap-0", "veth");
    test_agreement("fd77::2", reflector.port, "any", "any6");
    test_agreement("127.0.0.1", local.port, "any", "lo");
    test_kinds(reflector.port);
    test_follow_has_no_gap(reflector.port);
    test_rotation(reflector.port);
    test_errors();
    test_interface_returns(server);

    reflector_stop(local);
    reflector_stop(reflector);
    release_namespace(server);
    if (kept) printf("kept: %s\n", folder);
    return 0;
}

#endif
