/* A capture's files, an interface that goes and comes back, and errors of opening. */
#define _GNU_SOURCE
#include "support.h"

#if !CPINGER_CAPTURE

int main(void) {
    skip("built without libpcap");
}

#else

#include "capturing.h"

static long size_of(const char *name) {
    struct stat file;
    return stat(path(name), &file) == 0 ? (long)file.st_size : -1;
}

/* Pings until there are `files` files, because a slow host skips pings. Returns the number of packets. */
static unsigned ping_until(cpcapture *capture, uint16_t port, uint32_t files) {
    cping_target target = link_target("10.77.0.2", port, 100);
    cpcapture_state state = {0};
    unsigned packets = 0;
    for (int i = 0; i < 50 && state.files < files; i++) {
        struct outcome outcome = ping(capture, &target, NULL, 0);
        packets += 100 - outcome.not_sent + outcome.answered + outcome.late;
        cpcapture_get_state(capture, &state);
    }
    CHECK(state.files >= files);
    return packets;
}

static void test_rotation(uint16_t port) {
    struct packets packets = {0};
    cpcapture *capture = open_capture("rotation", "any", 8192, 3);
    unsigned sent = ping_until(capture, port, 6);
    cpcapture_state state;
    cpcapture_close(capture, &state);
    CHECK_EQUAL(state.written, sent);
    CHECK(state.files >= state.written / 100);
    for (uint32_t i = 1; i <= state.files + 1; i++) {
        char name[64];
        snprintf(name, sizeof name, "rotation-%04u.pcap", i);
        int is_kept = i + 3 > state.files && i <= state.files;
        CHECK_EQUAL(size_of(name) > 0, is_kept);
        if (!is_kept) continue;
        CHECK(size_of(name) <= 8192);
        read_file(name, &packets);
    }
    CHECK(packets.requests > 30);
    CHECK_EQUAL(packets.foreign, 0);
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

/* The capture reads packets some time after the pinger does. */
static void wait_for_packets(cpcapture *capture, unsigned packets) {
    cpcapture_state state = {0};
    for (int i = 0; i < 1000 && state.written < packets; i++) {
        cpcapture_get_state(capture, &state);
        usleep(10000);
    }
    CHECK_EQUAL(state.written, packets);
}

static void test_interface_returns(pid_t server) {
    struct packets packets = {0};
    cpcapture *capture = open_capture("return", "cp-cap-0", 0, 0);
    cping_target target = echo_target("10.77.0.2", 10);
    struct outcome before = ping(capture, &target, NULL, 0);
    wait_for_packets(capture, 10 - before.not_sent + before.answered);
    run_command("ip link delete cp-cap-0");
    wait_for(capture, 0);
    add_link(server);
    wait_for(capture, 1);
    struct outcome after = ping(capture, &target, NULL, 0);
    cpcapture_close(capture, NULL);
    read_file("return-0001.pcap", &packets);
    CHECK_EQUAL(packets.requests, 20 - before.not_sent - after.not_sent);
    CHECK_EQUAL(packets.replies, before.answered + after.answered);
}

/* A process whose other threads have dropped everything; its parent, which has not, breaks and heals the link. */
static void watch_interface_unprivileged(int done) {
    cpcapture *capture = open_capture("dropped", "cp-cap-0", 0, 0);
    CHECK_EQUAL(cping_drop_process_privileges(CPING_KEEP_RECOVERY), 0);
    CHECK(write(done, "x", 1) == 1);
    wait_for(capture, 0);
    CHECK(write(done, "x", 1) == 1);
    wait_for(capture, 1);
    cpcapture_close(capture, NULL);
    exit(0);
}

static void test_recovery_privilege_reopens_interface(pid_t server) {
    int done[2], status;
    char byte;
    CHECK(pipe(done) == 0);
    pid_t child = fork();
    if (child == 0) watch_interface_unprivileged(done[1]);
    close(done[1]);
    CHECK(read(done[0], &byte, 1) == 1);
    run_command("ip link delete cp-cap-0");
    CHECK(read(done[0], &byte, 1) == 1);
    add_link(server);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(done[0]);
}

static int open_error(const char *name, const char *interface_name, char *text, size_t size) {
    cpcapture *capture;
    cpcapture_options options = {.path = path(name), .interface_name = interface_name};
    int error = cpcapture_open(&options, &capture, text, size);
    CHECK(capture == NULL);
    return error;
}

/* A second capture under the same path, and one that takes a number while another capture runs. */
static void test_numbers_go_on(uint16_t port) {
    long first[4];
    cpcapture_state state;
    cpcapture *capture = open_capture("again", "any", 8192, 2);
    ping_until(capture, port, 3);
    cpcapture_close(capture, &state);
    CHECK_EQUAL(state.first_file, 1);
    uint32_t newest = state.files;
    first[0] = size_of("again-0001.pcap");
    CHECK_EQUAL(first[0], -1);
    char name[64];
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "again-%04u.pcap", newest - i);
        CHECK((first[i] = size_of(name)) > 0);
    }

    capture = open_capture("again", "any", 8192, 2);
    cpcapture *other = open_capture("again", "any", 8192, 2);
    ping_until(capture, port, newest + 3);
    cpcapture_close(other, &state);
    CHECK_EQUAL(state.first_file, newest + 2);
    cpcapture_close(capture, &state);
    CHECK(state.first_file > newest + 2);
    CHECK(state.files >= state.first_file);
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "again-%04u.pcap", newest - i);
        CHECK_EQUAL(size_of(name), first[i]);
    }
    snprintf(name, sizeof name, "again-%04u.pcap", newest + 2);
    CHECK(size_of(name) > 0);
}

static void test_errors(void) {
    char text[200];
    CHECK_EQUAL(open_error("x", "none0", text, sizeof text), -ENODEV);
    CHECK(strstr(text, "none0"));
    CHECK_EQUAL(open_error("absent/x", "any", text, sizeof text), -ENOENT);
    CHECK(strstr(text, "absent/x-0001.pcap"));
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

int main(void) {
    struct scene scene = set_scene();
    test_rotation(scene.far.port);
    test_numbers_go_on(scene.far.port);
    test_errors();
    test_interface_returns(scene.server);
    if (!HAS_THREAD_SANITIZER) test_recovery_privilege_reopens_interface(scene.server);
    clear_scene(scene);
    return 0;
}

#endif
