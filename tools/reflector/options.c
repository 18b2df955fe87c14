#define _GNU_SOURCE
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: reflector [options]\n"
    "\n"
    "Answers RTR UDP pings (RP01) like the measurement server: RR01 for a token that one of the secrets signed for the\n"
    "sender's address, RE01 for a token for another address or without a secret, no answer to other datagrams.\n"
    "\n"
    "  --listen ADDR            address to answer on, repeatable (default 127.0.0.1 and ::1)\n"
    "  --port N                 UDP port (default 4440; the public servers use 444, which needs privileges); 0: any,\n"
    "                           the same one on all addresses\n"
    "  --secret S               shared secret of the control server, repeatable, tried in order\n"
    "  --secret-file F          a secret, the first line of a file, repeatable\n"
    "  --any-address            RR01 for every token that one of the secrets signed, whatever address it is for: for clients\n"
    "                           behind NAT\n"
    "  --echo                   returns other datagrams as they came (RFC 862), but not to ports below 1024 and to its own\n"
    "                           port, which can belong to another service that answers everything\n"
    "  --echo-rate N            echoes a second to one source (an IPv6 /64 is one), default 200; 50 times as many to all\n"
    "  --one-way                answers the one-way format (docs/one-way-format.md) too, which needs no secret; of the\n"
    "                           faults, --drop, --dead and --delay apply to it\n"
    "\n"
    "Random faults, in percent of the requests that would be answered:\n"
    "  --drop PERCENT           no answer\n"
    "  --duplicate PERCENT      two answers\n"
    "  --wrong-sequence PERCENT an answer with another sequence\n"
    "  --short PERCENT          an answer of seven bytes\n"
    "  --unknown-magic PERCENT  an answer that starts with RX01\n"
    "  --force-re01 PERCENT     RE01\n"
    "  --other-port PERCENT     an answer from another port\n"
    "Other faults:\n"
    "  --delay MS               answers leave this much later (default 0)\n"
    "  --re01-once              the first request after each SIGUSR1 gets RE01\n"
    "  --dead FROM,TO           no answers in these seconds since start, repeatable\n"
    "  --seed N                 a seed gives the same faults for the same requests (default 1)\n"
    "\n"
    "Prints a line for each address when ready. SIGUSR2 and the end of the program print counters to standard error.\n"
    "SIGINT and SIGTERM end the program with status 0.\n";

static void fail(const char *option, const char *value, const char *expected) {
    fprintf(stderr, "reflector: --%s %s: expected %s\n", option, value, expected);
    exit(64);
}

static double number(const char *option, const char *value, double max, const char *expected) {
    char *end;
    double result = strtod(value, &end);
    if (end == value || *end || !(result >= 0 && result <= max)) fail(option, value, expected);
    return result;
}

static const char *read_secret(const char *path) {
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    ssize_t length = file ? getline(&line, &size, file) : -1;
    if (file) fclose(file);
    if (length < 0) fail("secret-file", path, "a readable file with a secret in its first line");
    line[strcspn(line, "\r\n")] = 0;
    return line;
}

static struct zone read_zone(const char *text) {
    struct zone zone;
    char rest;
    if (sscanf(text, "%lf,%lf%c", &zone.from, &zone.to, &rest) != 2 || !(zone.from >= 0 && zone.to >= zone.from)) {
        fail("dead", text, "FROM,TO in seconds");
    }
    return zone;
}

static void append(const char **list, size_t *count, size_t max, const char *option, const char *value) {
    if (*count == max) fail(option, value, "no more of these");
    list[(*count)++] = value;
}

enum { HELP = 256, LISTEN, PORT, SECRET, SECRET_FILE, DROP, DUPLICATE, WRONG, SHORT, MAGIC, RE01, OTHER, DELAY, ONCE, DEAD, SEED, ONE_WAY, ANY_ADDRESS,
       ECHO_ALL, ECHO_RATE };

static const struct option names[] = {
    {"help", no_argument, NULL, HELP},
    {"listen", required_argument, NULL, LISTEN},
    {"port", required_argument, NULL, PORT},
    {"secret", required_argument, NULL, SECRET},
    {"secret-file", required_argument, NULL, SECRET_FILE},
    {"drop", required_argument, NULL, DROP},
    {"duplicate", required_argument, NULL, DUPLICATE},
    {"wrong-sequence", required_argument, NULL, WRONG},
    {"short", required_argument, NULL, SHORT},
    {"unknown-magic", required_argument, NULL, MAGIC},
    {"force-re01", required_argument, NULL, RE01},
    {"other-port", required_argument, NULL, OTHER},
    {"delay", required_argument, NULL, DELAY},
    {"re01-once", no_argument, NULL, ONCE},
    {"dead", required_argument, NULL, DEAD},
    {"seed", required_argument, NULL, SEED},
    {"one-way", no_argument, NULL, ONE_WAY},
    {"any-address", no_argument, NULL, ANY_ADDRESS},
    {"echo", no_argument, NULL, ECHO_ALL},
    {"echo-rate", required_argument, NULL, ECHO_RATE},
    {NULL, 0, NULL, 0},
};

static double percent(int option) {
    return number(names[option - HELP].name, optarg, 100, "a percentage from 0 to 100");
}

static void take(struct options *o, int option) {
    switch (option) {
    case HELP: fputs(help, stdout); exit(0);
    case LISTEN: append(o->listen, &o->listen_count, MAX_LISTENERS, "listen", optarg); break;
    case PORT: o->port = (uint16_t)number("port", optarg, 65535, "a port from 0 to 65535"); break;
    case SECRET: append(o->secrets, &o->secret_count, MAX_SECRETS, "secret", optarg); break;
    case SECRET_FILE: append(o->secrets, &o->secret_count, MAX_SECRETS, "secret-file", read_secret(optarg)); break;
    case DROP: o->drop = percent(option); break;
    case DUPLICATE: o->duplicate = percent(option); break;
    case WRONG: o->wrong_sequence = percent(option); break;
    case SHORT: o->short_reply = percent(option); break;
    case MAGIC: o->unknown_magic = percent(option); break;
    case RE01: o->force_re01 = percent(option); break;
    case OTHER: o->other_port = percent(option); break;
    case DELAY: o->delay_ms = number("delay", optarg, 60000, "milliseconds from 0 to 60000"); break;
    case ONE_WAY: o->one_way = 1; break;
    case ANY_ADDRESS: o->any_address = 1; break;
    case ECHO_ALL: o->echo = 1; break;
    case ECHO_RATE: o->echo_rate = number("echo-rate", optarg, 1000000, "echoes a second, at most 1000000"); break;
    case ONCE: o->re01_once = 1; break;
    case DEAD:
        if (o->dead_count == MAX_ZONES) fail("dead", optarg, "no more of these");
        o->dead[o->dead_count++] = read_zone(optarg);
        break;
    case SEED: o->seed = (uint64_t)number("seed", optarg, 9007199254740992.0, "a whole number"); break;
    default: exit(64);  /* getopt has printed the reason */
    }
}

void options_read(struct options *options, int argc, char **argv) {
    *options = (struct options){.port = 4440, .seed = 1, .echo_rate = 200};
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) take(options, option);
    if (optind < argc) {
        fprintf(stderr, "reflector: unexpected argument %s; see --help\n", argv[optind]);
        exit(64);
    }
    if (options->listen_count == 0) {
        options->listen[options->listen_count++] = "127.0.0.1";
        options->listen[options->listen_count++] = "::1";
    }
}
