/* How many echoes leave: a source is often forged, and then the echoes hit the host that it names. */
#ifndef REFLECTOR_ECHO_LIMIT_H
#define REFLECTOR_ECHO_LIMIT_H

#include <stdint.h>

/* Sources share a bucket when their hashes meet: then both get less, never more. */
enum { ECHO_BUCKETS = 4096, ECHO_SOURCES_AT_ONCE = 50 };

struct echo_bucket {
    double tokens, filled;  /* seconds since the start of the program; 0: never used */
};

struct echo_limit {
    struct echo_bucket sources[ECHO_BUCKETS], all;
};

/* Whether an echo to `address` (IPv4 as ::ffff:a.b.c.d) may leave now. A source gets `rate` a second, with as many at once after a rest; all
 * together get ECHO_SOURCES_AT_ONCE times that. */
int echo_limit_admits(struct echo_limit *limit, const uint8_t address[16], double rate, double elapsed);

#endif
