/* RTR pings over loopback against the real reflector, without and with faults. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "support.h"

enum { COUNT = 20 };

static struct outcome run_once(cping_target target, cping_stats *stats) {
    struct outcome outcome = run_target(&target, 0, stats);
    CHECK_EQUAL(outcome.verdicts, COUNT);
    CHECK_EQUAL(outcome.finished, 1);
    return outcome;
}

/* Pings that get no answer. */
static struct outcome run(const char *address, uint16_t port, cping_stats *stats) {
    return run_once(rtr_target(address, port, COUNT), stats);
}

/* Pings that must be answered, however busy the machine is. */
static struct outcome run_patiently(const char *address, uint16_t port, cping_stats *stats) {
    return run_once(patient(rtr_target(address, port, COUNT)), stats);
}

static void answers(const char *address) {
    struct reflector reflector = REFLECT();
    cping_stats stats;
    struct outcome o = run_patiently(address, reflector.port, &stats);
    CHECK_EQUAL(o.answered + o.not_sent, COUNT);
    CHECK(o.answered > 0);
    CHECK_EQUAL(o.last.from.port, reflector.port);
    CHECK(o.last.rtt_ns > 0 && o.last.rtt_ns < 10000000000);
    CHECK(o.last.sent_ns >= o.last.slot_ns);
    /* The kernel enables receive stamps a moment after the first socket requests them. */
    CHECK(o.kernel_stamps > 0);
    CHECK_EQUAL(stats.sent, stats.answered);
    reflector_stop(reflector);
}

static void drops(void) {
    struct reflector reflector = REFLECT("--drop", "40", "--seed", "7");
    cping_stats stats;
    struct outcome o = run("127.0.0.1", reflector.port, &stats);
    CHECK(o.lost > 0 && o.answered > 0);
    CHECK_EQUAL(o.lost + o.answered + o.not_sent, COUNT);
    CHECK_EQUAL(stats.lost, o.lost);
    reflector_stop(reflector);
}

static void duplicates(void) {
    struct reflector reflector = REFLECT("--duplicate", "100");
    cping_target target = patient(rtr_target("127.0.0.1", reflector.port, 5));
    target.interval_ns = 50000000;
    struct outcome o = run_target(&target, 5, NULL);
    CHECK_EQUAL(o.answered + o.not_sent, 5);
    CHECK_EQUAL(o.duplicates, o.answered);
    reflector_stop(reflector);
}

static void late(void) {
    struct reflector reflector = REFLECT("--delay", "150");
    cping_target target = rtr_target("::1", reflector.port, 5);
    target.interval_ns = 20000000;
    target.timeout_ns = 60000000;
    struct outcome o = run_target(&target, 5, NULL);
    CHECK_EQUAL(o.lost + o.not_sent, 5);
    CHECK_EQUAL(o.late, o.lost);
    CHECK(o.last.rtt_ns >= 150000000);
    reflector_stop(reflector);
}

static void spoiled(const char *fault, size_t counter) {
    struct reflector reflector = REFLECT(fault, "100");
    uint64_t counters[sizeof(cping_stats) / 8];
    cping_stats stats;
    struct outcome o = run("127.0.0.1", reflector.port, &stats);
    memcpy(counters, &stats, sizeof stats);
    CHECK_EQUAL(o.lost + o.not_sent, COUNT);
    CHECK_EQUAL(counters[counter / 8], stats.sent);
    reflector_stop(reflector);
}

static void refused(void) {
    struct reflector reflector = REFLECT("--force-re01", "100");
    struct outcome o = run_patiently("::1", reflector.port, NULL);
    CHECK_EQUAL(o.refused + o.not_sent, COUNT);
    CHECK(o.refused > 0 && o.last.rtt_ns > 0);
    reflector_stop(reflector);
}

static void refused_once(void) {
    struct reflector reflector = REFLECT("--re01-once");
    CHECK_EQUAL(kill(reflector.process, SIGUSR1), 0);
    struct outcome o = run("127.0.0.1", reflector.port, NULL);
    CHECK_EQUAL(o.refused, 1);
    reflector_stop(reflector);
}

static void foreign_token(void) {
    struct reflector reflector = REFLECT();
    cping_target target = patient(rtr_target("127.0.0.1", reflector.port, 3));
    target.token[15] ^= 1;  /* another address */
    struct outcome o = run_target(&target, 0, NULL);
    CHECK_EQUAL(o.refused + o.not_sent, 3);
    target.token[11] ^= 1;  /* another secret */
    target.timeout_ns = 200000000;
    o = run_target(&target, 0, NULL);
    CHECK_EQUAL(o.lost + o.not_sent, 3);
    reflector_stop(reflector);
}

static void port_is_closed(const char *address) {
    struct reflector reflector = REFLECT();
    reflector_stop(reflector);
    struct outcome o = run_patiently(address, reflector.port, NULL);
    CHECK_EQUAL(o.icmp_errors + o.not_sent, COUNT);
    CHECK(o.icmp_errors > 0);
    CHECK_EQUAL(o.last.error, ECONNREFUSED);
    CHECK_EQUAL(o.last.icmp_type, o.last.from.family == 4 ? 3 : 1);
    CHECK_EQUAL(o.last.icmp_code, o.last.from.family == 4 ? 3 : 4);
}

static void unreachable(void) {
    cping_target target = rtr_target("127.0.0.1", 9, 3);
    /* The documentation prefix has no route over loopback. */
    CHECK_EQUAL(cping_address_parse(&target.destination, "2001:db8::1", 9), 0);
    strcpy(target.interface_name, "lo");
    struct outcome o = run_target(&target, 0, NULL);
    CHECK_EQUAL(o.verdicts, 3);
    CHECK_EQUAL(o.not_sent + o.lost + o.icmp_errors, 3);
}

int main(void) {
    answers("127.0.0.1");
    answers("::1");
    drops();
    duplicates();
    late();
    spoiled("--wrong-sequence", offsetof(cping_stats, unknown_sequence));
    spoiled("--short", offsetof(cping_stats, short_replies));
    spoiled("--unknown-magic", offsetof(cping_stats, unknown_magic));
    spoiled("--other-port", offsetof(cping_stats, foreign_source));
    refused();
    refused_once();
    foreign_token();
    port_is_closed("127.0.0.1");
    port_is_closed("::1");
    unreachable();
    return 0;
}
