#ifndef REFLECTOR_OPTIONS_H
#define REFLECTOR_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_LISTENERS = 8, MAX_SECRETS = 16, MAX_ZONES = 32 };

struct zone {
    double from, to;  /* seconds since start */
};

struct options {
    const char *listen[MAX_LISTENERS];
    size_t listen_count;
    uint16_t port;
    const char *secrets[MAX_SECRETS];
    size_t secret_count;
    double drop, duplicate, wrong_sequence, short_reply, unknown_magic, force_re01, other_port;  /* percent */
    double delay_ms;
    int re01_once;
    int one_way;
    int any_address;   /* RTR: the proof of the address is not looked at */
    int echo;
    double echo_rate;  /* echoes a second to one source */
    struct zone dead[MAX_ZONES];
    size_t dead_count;
    uint64_t seed;
};

/* Exits with 0 after --help, with 64 and one line on wrong usage. */
void options_read(struct options *options, int argc, char **argv);

#endif
