#define _GNU_SOURCE
#include "options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Together with the pings under way they fit into the smallest table, and the program into 2 MB. */
enum { FLOOD_REMEMBERED = 900 };

static const char help[] =
    "usage: cping [options] TARGET...\n"
    "\n"
    "Pings each TARGET, a name or an address, on an exact time grid, and reports the verdict on each ping.\n"
    "\n"
    "Pings:\n"
    "  -4, -6                   only addresses of this family\n"
    "  -c COUNT                 number of slots (default: until SIGINT)\n"
    "  -i SECONDS               time from slot to slot, at least 0.001 (default 0.1)\n"
    "  -W SECONDS               time limit of a reply (default 1)\n"
    "  -w SECONDS               end after this time, with pings under way or not\n"
    "  -f                       flood: the next ping as soon as fewer than --window are under way; -i is then the\n"
    "                           shortest mean time from ping to ping (default 0)\n"
    "      --window N           (default 64)\n"
    "  -s SIZE                  ICMP: bytes after the header, 12 to 65507 (default 56); one-way: of the whole datagram,\n"
    "                           72 to 65507 (default 72)\n"
    "  -D                       don't fragment\n"
    "  -t TTL                   or hop limit, 1 to 255\n"
    "  -Q CLASS                 traffic class byte, 0 to 255 (DSCP times four), also as 0x..\n"
    "  -m MARK                  for policy routing; needs CAP_NET_ADMIN or CAP_NET_RAW\n"
    "  -S ADDRESS               source\n"
    "  -I INTERFACE             interface to which pings are bound\n"
    "      --await              source and interface can be absent at first\n"
    "      --raw, --datagram    ICMP by this kind of socket only\n"
    "  -F FILE                  more targets, one a line of at most 1000 bytes, # starts a comment; -: standard input\n"
    "      --udp PORT --token T RTR pings; T is the token of 16 bytes in base64\n"
    "      --udp PORT --oneway  pings of docs/one-way-format.md: loss and variation in each direction\n"
    "      --remember N         pings remembered after their verdict, so that late and duplicate replies are recognised;\n"
    "                           some 250 bytes each (default 65536, with -f 900)\n"
    "      --requery SECONDS    resolve a name again after this time of silence, and go on at its new address (default 30)\n"
    "      --realtime           SCHED_FIFO if permitted; the default without -f\n"
    "      --no-realtime        the default policy of the host\n"
    "      --threads N          distribute the targets over this number of threads, 1 to 64, each with its own sockets (default 1)\n"
    "\n"
    "Output:\n"
    "      --json               a JSON object a line, and one a target at the end, under \"summary\"\n"
    "  -q                       only the summary\n"
    "  -v                       the privileges that the host granted, on standard error\n"
    "      --outage N           number of consecutive unanswered slots that make an outage (default 3)\n"
    "      --linger SECONDS     wait at the end for late replies (default 0)\n"
    "      --help, --version\n"
    "\n"
    "Verdicts: answered, lost, refused (RE01), icmp-error, not-sent, cancelled (the run ended first). After a verdict: late,\n"
    "duplicate. corrupt: a reply with wrong bytes, which does not count. Loss is the share of the pings that were sent and have\n"
    "a verdict but no reply in time.\n"
    "Times: slot_ns and sent_ns are CLOCK_BOOTTIME; rtt_ns is the difference of two stamps of the kernel's, or, for\n"
    "stamps \"clock\", of two readings of that clock. Percentiles are exact to 0.1 %. IPDV (RFC 3393) is the absolute\n"
    "difference of the round trips of two consecutive slots, both answered in time; one-way: also of up and of down. An\n"
    "outage lasts from its first slot to the next one that was answered.\n"
    "\n"
    "SIGQUIT prints the summary so far; pings under way are not in its loss. SIGINT and SIGTERM end the run.\n"
    "Exit status: 0 every target answered at least once; 1 some did not; 2 cping could not run; 64 wrong usage.\n";

static void fail(const char *option, const char *value, const char *expected) {
    fprintf(stderr, "cping: %s %s: expected %s; see --help\n", option, value, expected);
    exit(EXIT_USAGE);
}

static uint64_t whole(const char *option, const char *value, uint64_t min, uint64_t max, const char *expected) {
    char *end;
    unsigned long long number = strtoull(value, &end, value[0] == '0' && value[1] == 'x' ? 16 : 10);
    /* strtoull would also accept spaces and signs. */
    if (!isdigit((unsigned char)value[0]) || *end || number < min || number > max) fail(option, value, expected);
    return number;
}

static uint64_t seconds(const char *option, const char *value, double min) {
    char *end;
    double number = strtod(value, &end);
    if (strspn(value, "0123456789.e-") != strlen(value) || value[0] == '-' || end == value || *end || !(number >= min && number <= 86400)) fail(option, value, "seconds, at most 86400");
    return (uint64_t)(number * 1e9 + 0.5);
}

static int digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* 16 bytes are 22 digits, of which the last has four spare bits, and "==". */
static int read_token(const char *text, uint8_t token[16]) {
    uint32_t bits = 0;
    size_t length = strlen(text), count = 0;
    if (length != 22 && (length != 24 || strcmp(text + 22, "==") != 0)) return -1;
    for (size_t i = 0; i < 22; i++) {
        int value = digit(text[i]);
        if (value < 0) return -1;
        bits = bits << 6 | (uint32_t)value;
        int shift = 6 * ((int)i + 1) % 8;
        if (i % 4 != 0 && count < 16) token[count++] = (uint8_t)(bits >> shift);
    }
    return 0;
}

static void read_interface(cping_target *target, const char *name) {
    if (strlen(name) == 0 || strlen(name) >= sizeof target->interface_name) fail("-I", name, "the name of an interface");
    strcpy(target->interface_name, name);
}

enum { HELP = 256, VERSION, UDP, TOKEN, ONEWAY, JSON, WINDOW, AWAIT, RAW, DATAGRAM, REALTIME, OUTAGE, LINGER, REMEMBER, THREADS, REQUERY, NO_REALTIME };

static const struct option names[] = {
    {"help", no_argument, NULL, HELP},         {"version", no_argument, NULL, VERSION},
    {"udp", required_argument, NULL, UDP},     {"token", required_argument, NULL, TOKEN},
    {"oneway", no_argument, NULL, ONEWAY},     {"json", no_argument, NULL, JSON},
    {"window", required_argument, NULL, WINDOW}, {"await", no_argument, NULL, AWAIT},
    {"raw", no_argument, NULL, RAW},           {"datagram", no_argument, NULL, DATAGRAM},
    {"realtime", no_argument, NULL, REALTIME}, {"no-realtime", no_argument, NULL, NO_REALTIME},
    {"outage", required_argument, NULL, OUTAGE},
    {"linger", required_argument, NULL, LINGER}, {"remember", required_argument, NULL, REMEMBER},
    {"threads", required_argument, NULL, THREADS}, {"requery", required_argument, NULL, REQUERY},
    {NULL, 0, NULL, 0},
};

static void take_socket_option(cping_target *t, int option) {
    switch (option) {
    case 's': t->size = (uint16_t)whole("-s", optarg, 12, 65507, "a size from 12 to 65507"); break;
    case 'D': t->flags |= CPING_TARGET_DONT_FRAGMENT; break;
    case 't': t->ttl = (uint8_t)whole("-t", optarg, 1, 255, "a TTL from 1 to 255"); break;
    case 'Q': t->traffic_class = (uint8_t)whole("-Q", optarg, 0, 255, "a traffic class from 0 to 255"); break;
    case 'm': t->mark = (uint32_t)whole("-m", optarg, 0, UINT32_MAX, "a mark of 32 bits"); break;
    case 'I': read_interface(t, optarg); break;
    case AWAIT: t->flags |= CPING_TARGET_AWAIT; break;
    case RAW: t->socket = CPING_SOCKET_RAW; break;
    case DATAGRAM: t->socket = CPING_SOCKET_DATAGRAM; break;
    default: exit(EXIT_USAGE);  /* getopt has printed the reason */
    }
}

static void take_pace(options *o, int option) {
    cping_target *t = &o->target;
    switch (option) {
    case 'c': t->count = whole("-c", optarg, 1, INT64_MAX, "a number of pings, at least 1"); break;
    case 'i':
        t->interval_ns = seconds("-i", optarg, 0);
        o->has_interval = 1;
        break;
    case 'W': t->timeout_ns = seconds("-W", optarg, 1e-6); break;
    case 'w': o->deadline_ns = seconds("-w", optarg, 1e-6); break;
    case 'f': t->flags |= CPING_TARGET_FLOOD; break;
    case WINDOW: t->window = (uint32_t)whole("--window", optarg, 1, 65536, "a number from 1 to 65536"); break;
    case REMEMBER: o->remembered = (uint32_t)whole("--remember", optarg, 1, UINT32_MAX, "a number of pings"); break;
    case REQUERY: o->silence_ns = seconds("--requery", optarg, 1); break;
    case LINGER: o->linger_ns = seconds("--linger", optarg, 0); break;
    case OUTAGE: o->outage_pings = whole("--outage", optarg, 1, INT64_MAX, "a number of slots, at least 1"); break;
    default: take_socket_option(t, option);
    }
}

static void contradiction(const char *text) {
    fprintf(stderr, "cping: %s; see --help\n", text);
    exit(EXIT_USAGE);
}

static void take_family(options *o, int family) {
    if (o->family && o->family != family) contradiction("-4 and -6 exclude each other; without either, names decide");
    o->family = family;
}

static void take_file(options *o, const char *path) {
    if (o->file) contradiction("-F can be given once");
    o->file = path;
}

static void take(options *o, int option, int *has_token) {
    switch (option) {
    case HELP: fputs(help, stdout); exit(0);
    case VERSION: puts("cping " CPING_VERSION); exit(0);
    case '4': take_family(o, 4); break;
    case '6': take_family(o, 6); break;
    case 'q': o->quiet = 1; break;
    case 'v': o->verbose = 1; break;
    case 'S': o->source = optarg; break;
    case 'F': take_file(o, optarg); break;
    case JSON: o->json = 1; break;
    case THREADS: o->threads = whole("--threads", optarg, 1, 64, "a number of threads from 1 to 64"); break;
    case REALTIME: case NO_REALTIME: o->realtime = option; break;
    case UDP: o->port = (uint16_t)whole("--udp", optarg, 1, 65535, "a port from 1 to 65535"); break;
    case ONEWAY: o->target.protocol = CPING_ONEWAY; break;
    case TOKEN:
        if (read_token(optarg, o->target.token) != 0) fail("--token", optarg, "16 bytes in base64");
        *has_token = 1;
        break;
    default: take_pace(o, option);
    }
}

static void settle_protocol(options *o, int has_token) {
    cping_target *t = &o->target;
    int is_oneway = t->protocol == CPING_ONEWAY;
    t->protocol = is_oneway ? CPING_ONEWAY : o->port ? CPING_RTR : CPING_ICMP;
    if (has_token && is_oneway) contradiction("--token and --oneway exclude each other");
    if ((has_token || is_oneway) && !o->port) contradiction("--token and --oneway need --udp");
    if (t->protocol == CPING_RTR && !has_token) contradiction("--udp needs --token or --oneway");
    if (t->protocol == CPING_RTR && t->size) contradiction("RTR pings have one size, -s is not for them");
    if (is_oneway && t->size && t->size < 72) contradiction("one-way pings have 72 bytes at least");
    if (t->protocol != CPING_ICMP && t->socket) contradiction("--raw and --datagram are for ICMP");
}

static void check(options *o) {
    int floods = (o->target.flags & CPING_TARGET_FLOOD) != 0;
    /* To the library, zero is the default. */
    if (!floods && o->has_interval && o->target.interval_ns < 1000000) {
        contradiction("-i is at least 0.001, except with -f");
    }
    /* At realtime priority a flood would block other processes. */
    if (o->realtime == REALTIME || (o->realtime == 0 && !floods)) o->pinger_flags |= CPING_OPTION_REALTIME;
    if (o->remembered == 0 && floods) o->remembered = FLOOD_REMEMBERED;
    if (o->target.window && !floods) contradiction("--window is for -f");
    if (o->name_count == 0 && !o->file) contradiction("a target is missing");
}

void options_read(options *o, int argc, char **argv) {
    int has_token = 0;
    *o = (options){.outage_pings = 3, .threads = 1, .silence_ns = UINT64_C(30000000000)};
    for (int option; (option = getopt_long(argc, argv, "46c:i:W:w:fs:Dt:Q:m:S:I:F:qv", names, NULL)) != -1;) {
        take(o, option, &has_token);
    }
    o->names = argv + optind;
    o->name_count = (size_t)(argc - optind);
    settle_protocol(o, has_token);
    check(o);
}
