#define _GNU_SOURCE
#include "cping.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: cping [options] TARGET...\n"
    "\n"
    "Pings each TARGET, a name or an address, on an exact time grid, and reports the verdict on each ping. It is the example of\n"
    "libcpinger; coverage-probe ping has more options and figures.\n"
    "\n"
    "  -c COUNT                 number of slots (default: until SIGINT or SIGTERM; the second one\n"
    "                           does not wait for the pings under way)\n"
    "  -i SECONDS               time from slot to slot, at least 0.001 (default 0.1)\n"
    "  -W SECONDS               time limit of a reply (default 1)\n"
    "  -f                       flood: the next ping as soon as fewer than --window are under way; -i is then the\n"
    "                           shortest mean time from ping to ping (default 0)\n"
    "      --window N           (default 64)\n"
    "  -I INTERFACE             interface to which pings are bound\n"
    "      --udp PORT --token T RTR pings; T is the token of 16 bytes in base64\n"
    "      --udp PORT --oneway  pings of docs/one-way-format.md\n"
    "      --json               a JSON object a ping, and one a target at the end, under \"summary\"\n"
    "  -q                       only the summary\n"
    "      --help\n"
    "\n"
    "Exit status: 0 every target answered at least once; 1 some did not; 2 cping could not run; 64 wrong usage.\n";

static void fail(const char *option, const char *value, const char *expected) {
    fprintf(stderr, "cping: %s %s: expected %s; see --help\n", option, value, expected);
    exit(EXIT_USAGE);
}

static void contradiction(const char *text) {
    fprintf(stderr, "cping: %s; see --help\n", text);
    exit(EXIT_USAGE);
}

static uint64_t whole(const char *option, uint64_t max) {
    char *end, expected[48];
    unsigned long long number = strtoull(optarg, &end, 10);
    snprintf(expected, sizeof expected, "a number from 1 to %llu", (unsigned long long)max);
    /* strtoull would also accept spaces and signs. */
    if (!isdigit((unsigned char)optarg[0]) || *end || number < 1 || number > max) fail(option, optarg, expected);
    return number;
}

static uint64_t seconds(const char *option, double min) {
    char *end;
    double number = strtod(optarg, &end);
    /* strtod would also accept spaces, signs, hexadecimal digits and "inf". */
    int is_plain = strspn(optarg, "0123456789.e-") == strlen(optarg) && optarg[0] != '-' && end != optarg && !*end;
    if (!is_plain || !(number >= min && number <= 86400)) fail(option, optarg, "seconds, at most 86400");
    return (uint64_t)(number * 1e9 + 0.5);
}

static int digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* 16 bytes are 22 digits, of which the last has four spare bits, and "==". */
static void read_token(const char *text, uint8_t token[16]) {
    uint32_t bits = 0;
    size_t length = strlen(text), count = 0;
    int is_good = length == 22 || (length == 24 && strcmp(text + 22, "==") == 0);
    for (size_t i = 0; is_good && i < 22; i++) {
        int value = digit(text[i]);
        is_good = value >= 0;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0 && count < 16) token[count++] = (uint8_t)(bits >> 6 * (i + 1) % 8);
    }
    if (!is_good) fail("--token", text, "16 bytes in base64");
}

static void read_interface(cping_target *target) {
    size_t length = strlen(optarg);
    if (length == 0 || length >= sizeof target->interface_name) fail("-I", optarg, "the name of an interface");
    memcpy(target->interface_name, optarg, length);
}

enum { HELP = 256, UDP, TOKEN, ONEWAY, JSON, WINDOW };

static const struct option names[] = {
    {"help", no_argument, NULL, HELP},     {"window", required_argument, NULL, WINDOW}, {"udp", required_argument, NULL, UDP},
    {"oneway", no_argument, NULL, ONEWAY}, {"token", required_argument, NULL, TOKEN},   {"json", no_argument, NULL, JSON},
    {NULL, 0, NULL, 0},
};

static void apply(options *o, int option, const char **token) {
    cping_target *t = &o->target;
    switch (option) {
    case HELP: fputs(help, stdout); exit(0);
    case 'c': t->count = whole("-c", INT64_MAX); break;
    case 'i': t->interval_ns = seconds("-i", 1e-9); break;
    case 'W': t->timeout_ns = seconds("-W", 1e-6); break;
    case 'f': o->is_flood = 1; break;
    case WINDOW: t->window = (uint32_t)whole("--window", 65536); break;
    case 'I': read_interface(t); break;
    case UDP: o->port = (uint16_t)whole("--udp", 65535); break;
    case TOKEN: *token = optarg; break;
    case ONEWAY: t->protocol = CPING_ONEWAY; break;
    case JSON: o->is_json = 1; break;
    case 'q': o->is_quiet = 1; break;
    default: exit(EXIT_USAGE);  /* getopt has printed the reason */
    }
}

void options_read(options *o, int argc, char **argv) {
    const char *token = NULL;
    cping_target *t = &o->target;
    *o = (options){0};
    for (int option; (option = getopt_long(argc, argv, "c:i:W:fI:q", names, NULL)) != -1;) apply(o, option, &token);
    o->names = argv + optind;
    o->name_count = (size_t)(argc - optind);
    int is_oneway = t->protocol == CPING_ONEWAY;
    if (token && is_oneway) contradiction("--token and --oneway exclude each other");
    if (!o->port != !(token || is_oneway)) contradiction("--udp needs --token or --oneway, and these need --udp");
    /* To the library, 0 is the default. */
    if (!o->is_flood && t->interval_ns && t->interval_ns < 1000000) contradiction("-i is at least 0.001, except with -f");
    if (t->window && !o->is_flood) contradiction("--window is for -f");
    if (o->name_count == 0) contradiction("a target is missing");
    if (token) read_token(token, t->token);
    if (o->is_flood) t->flags |= CPING_TARGET_FLOOD;
    if (!is_oneway) t->protocol = token ? CPING_RTR : CPING_ICMP;
}
