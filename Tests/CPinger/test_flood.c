/* Flooding: every ping has its verdict, memory stays bounded, few wakeups at a calm pace. Loopback of an own namespace. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <time.h>

#include "namespaces.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PINGS = 50000, IS_SANITIZED = 1 };
#else
enum { PINGS = 1000000, IS_SANITIZED = 0 };
#endif

static long resident_kib(void) {
    char line[128];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status)) sscanf(line, "VmRSS: %ld", &kib);
    fclose(status);
    return kib;
}

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static cping_target flood_target(const char *address, uint64_t count, uint32_t window) {
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .timeout_ns = 1000000000, .count = count,
                           .flags = CPING_TARGET_FLOOD, .window = window};
    CHECK_EQUAL(cping_address_parse(&target.destination, address, 0), 0);
    return target;
}

/* Reads until `targets` targets have finished. */
static struct outcome drain(cping *pinger, unsigned targets, long *early_kib, unsigned early) {
    struct outcome o = {0};
    while (o.finished < targets) {
        cping_event events[64];
        CHECK_EQUAL(cping_wait(pinger, 10000), 1);
        size_t count = cping_read(pinger, events, 64);
        for (size_t i = 0; i < count; i++) collect(&o, &events[i]);
        if (early_kib && *early_kib == 0 && o.verdicts > early) *early_kib = resident_kib();
    }
    return o;
}

static void floods(unsigned targets, unsigned pings, uint32_t window, uint16_t size, const char *name) {
    cping *pinger;
    cping_options options = {.flags = CPING_OPTION_THREADLESS, .remembered = 1024};
    CHECK_EQUAL(cping_create(&options, &pinger), 0);
    for (unsigned i = 0; i < targets; i++) {
        char address[32];
        snprintf(address, sizeof address, "127.0.%u.%u", i / 250, i % 250 + 1);
        cping_target target = flood_target(address, pings / targets, window);
        target.size = size;
        int64_t id = cping_add(pinger, &target);
        CHECK(id > 0);
        CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    }
    long before = resident_kib(), early = 0;
    double cpu = cpu_seconds();
    uint64_t begin_ns = cping_now();
    struct outcome o = drain(pinger, targets, &early, pings / 20);
    double seconds = (double)(cping_now() - begin_ns) / 1e9;
    cpu = cpu_seconds() - cpu;
    long after = resident_kib();
    cping_stats stats;
    cping_get_stats(pinger, &stats);
    printf("%s: %u pings, %u answered, %u lost, %.0f a second, %.2f us CPU a ping, kernel stamps %.3f %%, memory +%ld KiB "
           "(of it after the first twentieth %+ld), %.3f wakeups a ping\n", name, o.verdicts, o.answered, o.lost,
           o.verdicts / seconds, cpu * 1e6 / o.verdicts, 100.0 * o.kernel_stamps / o.answered, after - before, after - early,
           (double)stats.wakeups / o.verdicts);
    CHECK_EQUAL(o.verdicts, pings);
    CHECK_EQUAL(o.answered + o.lost + o.not_sent, pings);
    CHECK_EQUAL(stats.sent, o.answered + o.lost);
    /* The pinger loses nothing: the pings under way fit into the receive buffer. */
    CHECK_EQUAL(o.answered, pings);
    CHECK_EQUAL(stats.dropped_events + o.duplicates + stats.corrupt, 0);
    if (!IS_SANITIZED && size == 0) CHECK(after - early < 256);
    if (!IS_SANITIZED && targets == 1) CHECK(after - before < 256);
    cping_destroy(pinger);
}

/* Driven by the descriptor alone, as by a caller with its own loop: it stays readable while there is work. */
static void floods_by_descriptor(void) {
    cping *pinger;
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS}, &pinger), 0);
    cping_target target = flood_target("127.0.0.1", 5000, 64);
    int64_t id = cping_add(pinger, &target);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    struct outcome o = {0};
    /* The first events come before the descriptor is requested. */
    CHECK_EQUAL(cping_wait(pinger, 1000), 1);
    struct pollfd readable = {.fd = cping_event_fd(pinger), .events = POLLIN};
    while (!o.finished) {
        cping_event events[64];
        size_t count;
        while ((count = cping_read(pinger, events, 64)) > 0) {
            for (size_t i = 0; i < count; i++) collect(&o, &events[i]);
        }
        if (o.finished) break;
        CHECK_EQUAL(poll(&readable, 1, 3000), 1);
        CHECK(cping_wait(pinger, 0) >= 0);
    }
    CHECK_EQUAL(o.answered, 5000);
    cping_destroy(pinger);
}

/* A socket that was flooded is read like any other when only other sockets are flooded. */
static void reads_calm_sockets_during_floods(void) {
    cping *pinger;
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS}, &pinger), 0);
    cping_target first = flood_target("127.0.0.1", 2000, 64), calm = flood_target("127.0.0.2", 20, 0), other = first;
    calm.flags = 0;
    calm.interval_ns = 10000000;
    other.ttl = 9;  /* needs another socket */
    other.count = 0;
    int64_t id = cping_add(pinger, &calm);
    CHECK_EQUAL(cping_start(pinger, cping_add(pinger, &first), 0), 0);
    CHECK_EQUAL(cping_start(pinger, cping_add(pinger, &other), 0), 0);
    CHECK_EQUAL(cping_start(pinger, id, cping_now() + 100000000), 0);
    unsigned answered = 0;
    for (int is_finished = 0; !is_finished;) {
        cping_event events[64];
        CHECK_EQUAL(cping_wait(pinger, 1000), 1);
        size_t count = cping_read(pinger, events, 64);
        for (size_t i = 0; i < count; i++) {
            if (events[i].target != id) continue;
            is_finished |= events[i].kind == CPING_FINISHED;
            if (events[i].kind != CPING_ANSWERED) continue;
            answered++;
            /* Otherwise it would be read only at the end of its second. */
            CHECK(events[i].rtt_bound_ns < 500000000);
        }
    }
    CHECK(answered > 0);
    cping_destroy(pinger);
}

/* The host does not answer: the window bounds the pings under way. */
static void floods_into_silence(void) {
    cping *pinger;
    run_command("sysctl -qw net.ipv4.icmp_echo_ignore_all=1");
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS}, &pinger), 0);
    cping_target target = flood_target("127.0.0.1", 500, 100);
    target.timeout_ns = 50000000;
    int64_t id = cping_add(pinger, &target);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    CHECK_EQUAL(cping_wait(pinger, 1000), 1);
    cping_target_info info;
    CHECK_EQUAL(cping_inspect(pinger, id, &info), 0);
    CHECK(info.sent <= 200);
    struct outcome o = drain(pinger, 1, NULL, 0);
    CHECK_EQUAL(o.lost + o.not_sent, 500);
    cping_destroy(pinger);
    run_command("sysctl -qw net.ipv4.icmp_echo_ignore_all=0");
}

static void keeps_a_pace(void) {
    cping *pinger;
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_THREADLESS}, &pinger), 0);
    cping_target target = flood_target("127.0.0.1", 1001, 64);
    target.interval_ns = 200000;
    int64_t id = cping_add(pinger, &target);
    uint64_t begin_ns = cping_now();
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    struct outcome o = drain(pinger, 1, NULL, 0);
    double seconds = (double)(cping_now() - begin_ns) / 1e9;
    printf("5000 a second asked for: %.0f a second\n", 1000 / seconds);
    CHECK_EQUAL(o.verdicts, 1001);
    CHECK(seconds >= 0.19);
    cping_destroy(pinger);
}

static void wakes_rarely(uint32_t flags, double limit) {
    cping *pinger;
    CHECK_EQUAL(cping_create(&(cping_options){.flags = flags}, &pinger), 0);
    cping_target target = {.protocol = CPING_ICMP, .socket = CPING_SOCKET_RAW, .count = 30};
    CHECK_EQUAL(cping_address_parse(&target.destination, "127.0.0.1", 0), 0);
    int64_t id = cping_add(pinger, &target);
    CHECK_EQUAL(cping_start(pinger, id, 0), 0);
    struct rusage before, after;
    cping_stats stats;
    getrusage(RUSAGE_SELF, &before);
    struct outcome o = drain(pinger, 1, NULL, 0);
    getrusage(RUSAGE_SELF, &after);
    cping_get_stats(pinger, &stats);
    double switches = (double)(after.ru_nvcsw - before.ru_nvcsw) / 30, wakeups = (double)stats.wakeups / 30;
    printf("10 pings a second, %s: %.2f wakeups a ping of the engine, %.2f voluntary switches of the process\n",
           flags ? "threadless" : "thread", wakeups, switches);
    CHECK_EQUAL(o.verdicts, 30);
    if (!IS_SANITIZED) CHECK(wakeups <= limit);
    cping_destroy(pinger);
}

static void reports_what_was_granted(void) {
    cping *pinger;
    cping_environment environment;
    CHECK_EQUAL(cping_create(&(cping_options){.flags = CPING_OPTION_REALTIME}, &pinger), 0);
    cping_get_environment(pinger, &environment);
    printf("timer slack %ju ns, realtime %d, network watch %d\n", (uintmax_t)environment.timer_slack_ns,
           environment.realtime, environment.network_watch);
    CHECK_EQUAL(environment.timer_slack_ns, 1);
    CHECK(environment.realtime == 1 || environment.realtime == -EPERM);
    CHECK_EQUAL(environment.network_watch, 1);
    cping_destroy(pinger);
}

int main(void) {
    enter_new_namespace();
    /* Loopback's own limits are not under test. */
    run_command("sysctl -qw net.ipv4.icmp_ratemask=0 net.ipv4.icmp_msgs_per_sec=100000000 || true");
    reports_what_was_granted();
    wakes_rarely(CPING_OPTION_THREADLESS, 2.2);
    wakes_rarely(0, 2.4);
    keeps_a_pace();
    floods_into_silence();
    floods_by_descriptor();
    reads_calm_sockets_during_floods();
    floods(1, PINGS, 64, 0, "one target");
    floods(1000, PINGS / 5, 0, 0, "a thousand targets");
    floods(1000, PINGS / 50 / 1000 * 1000, 1, 0, "a thousand targets, one ping each under way");
    /* The receive buffer holds a fraction of what the targets' windows allow. */
    floods(100, PINGS / 500, 64, 60000, "a hundred targets, large pings");
    return 0;
}
