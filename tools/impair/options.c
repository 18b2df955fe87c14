#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: impair --left NETNS:INTERFACE --right NETNS:INTERFACE [options]\n"
    "\n"
    "A bad link between two network namespaces. It makes a TUN interface in each (give them addresses with ip) and carries\n"
    "IPv4 and IPv6 packets between them, and impairs every one, TCP's too. The n-th packet of a direction always meets the\n"
    "same fate under one seed.\n"
    "\n"
    "Impairments; --up-NAME is for left to right only, --down-NAME for right to left, --NAME for both; the last one counts:\n"
    "  --delay MS               (default 0)\n"
    "  --jitter MS              added to the delay, which never gets below 0:\n"
    "  --distribution NAME      uniform: from -jitter to +jitter (default); normal: sigma is the jitter, cut at four sigma;\n"
    "                           exponential: its mean is the jitter\n"
    "  --keep-order             jitter lets no packet overtake another (reordered, held and copied ones aside)\n"
    "  --loss PERCENT\n"
    "  --duplicate PERCENT[:MS] a copy leaves MS after the packet (default 0); a lost packet has none, a corrupt one's is intact\n"
    "  --reorder PERCENT:MS     the packet waits MS more, so that later ones overtake it\n"
    "  --hold PERCENT:MS        the same, marked in the log: for packets that must come after a timeout\n"
    "  --corrupt PERCENT        one bit of the payload (behind the ICMP, UDP or TCP header) flips; the checksum shows it\n"
    "  --corrupt-fixed PERCENT  one bit flips and the checksum is made right again, so that it does not\n"
    "\n"
    "Other options:\n"
    "  --seed N                 (default 1)\n"
    "  --log FILE               JSON Lines: one for each packet and copy when it leaves or is lost, at the end a summary\n"
    "  --duration S             end after so many seconds (default: SIGINT or SIGTERM)\n"
    "  --queue N                packets under way at most (default 65536); what finds it full is dropped and counted\n"
    "  --priority N             SCHED_FIFO where permitted, 0: ordinary (default 10)\n"
    "  --cpu N                  stay on this core\n"
    "\n"
    "Prints \"impair: ready\" when packets flow. The end prints the summary, with the error of its own pacing, to standard\n"
    "error. Needs CAP_NET_ADMIN and CAP_SYS_ADMIN. The interfaces go with the program.\n"
    "\n"
    "A log line: direction, number (of the packet in its direction), copy (1: the duplicate), family, protocol, kind (echo-request,\n"
    "echo-reply, icmp, udp, tcp, other), id or ports, sequence, length, head (the payload's first bytes, as they came), hash_in and\n"
    "hash_out (of the payload as it came and as it left: they differ where a bit flipped), fate (passed, lost, refused: the interface\n"
    "did not take it), duplicated, reordered, held, corrupt (null, detectable, fixed), bit (of the payload), delay_ns (meant), in_ and\n"
    "out_ times on CLOCK_REALTIME and CLOCK_MONOTONIC, pacing_error_ns (out later than meant).\n";

static void fail(const char *option, const char *value, const char *expected) {
    fprintf(stderr, "impair: --%s %s: expected %s\n", option, value, expected);
    exit(64);
}

/* A number, followed by `end`. */
static double number(const char *option, const char *value, double max, char end, const char **rest, const char *expected) {
    char *stop;
    double result = strtod(value, &stop);
    if (stop == value || (*stop && *stop != end) || !(result >= 0 && result <= max)) fail(option, value, expected);
    if (rest) *rest = *stop ? stop + 1 : NULL;
    return result;
}

static double percent(const char *option, const char *value) {
    return number(option, value, 100, 0, NULL, "a percentage from 0 to 100");
}

static int64_t milliseconds(const char *option, const char *value) {
    return (int64_t)(number(option, value, 600000, 0, NULL, "milliseconds from 0 to 600000") * 1e6 + 0.5);
}

static struct chance chance(const char *option, const char *value) {
    const char *rest;
    struct chance chance = {.percent = number(option, value, 100, ':', &rest, "PERCENT:MS")};
    if (rest) chance.by_ns = milliseconds(option, rest);
    return chance;
}

static enum distribution distribution(const char *option, const char *value) {
    static const char *const names[] = {"uniform", "normal", "exponential"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) return (enum distribution)i;
    }
    fail(option, value, "uniform, normal or exponential");
    return UNIFORM;
}

static struct side side(const char *option, const char *value) {
    struct side side = {0};
    const char *colon = strchr(value, ':');
    size_t length = colon ? (size_t)(colon - value) : 0;
    if (!length || length >= sizeof side.network_namespace || memchr(value, '/', length) || !colon[1] ||
        strlen(colon + 1) >= sizeof side.interface_name) {
        fail(option, value, "NETNS:INTERFACE");
    }
    memcpy(side.network_namespace, value, length);
    strcpy(side.interface_name, colon + 1);
    return side;
}

/* Returns 1 for an option of a profile. */
static int take_profile(struct profile *p, const char *name, const char *value) {
    if (strcmp(name, "delay") == 0) p->delay_ns = milliseconds(name, value);
    else if (strcmp(name, "jitter") == 0) p->jitter_ns = milliseconds(name, value);
    else if (strcmp(name, "distribution") == 0) p->distribution = distribution(name, value);
    else if (strcmp(name, "keep-order") == 0) p->keep_order = true;
    else if (strcmp(name, "loss") == 0) p->loss = percent(name, value);
    else if (strcmp(name, "duplicate") == 0) p->duplicate = chance(name, value);
    else if (strcmp(name, "reorder") == 0) p->reorder = chance(name, value);
    else if (strcmp(name, "hold") == 0) p->hold = chance(name, value);
    else if (strcmp(name, "corrupt") == 0) p->corrupt = percent(name, value);
    else if (strcmp(name, "corrupt-fixed") == 0) p->corrupt_fixed = percent(name, value);
    else return 0;
    return 1;
}

static int take_program(struct options *o, const char *name, const char *value) {
    if (strcmp(name, "left") == 0) o->sides[0] = side(name, value);
    else if (strcmp(name, "right") == 0) o->sides[1] = side(name, value);
    else if (strcmp(name, "seed") == 0) o->seed = (uint64_t)number(name, value, 9007199254740992.0, 0, NULL, "a whole number");
    else if (strcmp(name, "log") == 0) o->log = value;
    else if (strcmp(name, "duration") == 0) o->duration_s = number(name, value, 1e6, 0, NULL, "seconds from 0 to 1000000");
    else if (strcmp(name, "queue") == 0) o->queue = (size_t)number(name, value, 1 << 24, 0, NULL, "packets, at most 16777216");
    else if (strcmp(name, "priority") == 0) o->priority = (int)number(name, value, 99, 0, NULL, "0 to 99");
    else if (strcmp(name, "cpu") == 0) o->cpu = (int)number(name, value, 1023, 0, NULL, "a core's number");
    else return 0;
    return 1;
}

static int take(struct options *o, const char *name, const char *value) {
    if (strncmp(name, "up-", 3) == 0) return take_profile(&o->profiles[UP], name + 3, value);
    if (strncmp(name, "down-", 5) == 0) return take_profile(&o->profiles[DOWN], name + 5, value);
    if (take_profile(&o->profiles[UP], name, value)) return take_profile(&o->profiles[DOWN], name, value);
    return take_program(o, name, value);
}

static int is_flag(const char *name) {
    size_t length = strlen(name), flag = strlen("keep-order");
    return length >= flag && strcmp(name + length - flag, "keep-order") == 0;
}

static void wrong(const char *text, const char *argument) {
    fprintf(stderr, "impair: %s %s; see --help\n", text, argument);
    exit(64);
}

void options_read(struct options *options, int argc, char **argv) {
    *options = (struct options){.seed = 1, .queue = 65536, .priority = 10, .cpu = -1};
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) wrong("unexpected argument", argv[i]);
        char *name = argv[i] + 2, *equals = strchr(name, '=');
        if (equals) *equals = 0;
        if (strcmp(name, "help") == 0) {
            fputs(help, stdout);
            exit(0);
        }
        const char *value = equals ? equals + 1 : is_flag(name) ? "" : argv[++i];
        if (!value) wrong("a value is missing for", argv[argc - 1]);
        if (!take(options, name, value)) wrong("unknown option", name);
    }
    if (!*options->sides[0].interface_name || !*options->sides[1].interface_name) wrong("--left and --right", "are needed");
}
