#include "echo_limit.h"

#include <string.h>

static int is_ipv4(const uint8_t address[16]) {
    static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return memcmp(address, prefix, sizeof prefix) == 0;
}

/* FNV-1a. One host has a whole IPv6 /64 to choose its address from. */
static uint32_t bucket_of(const uint8_t address[16]) {
    const uint8_t *bytes = is_ipv4(address) ? address + 8 : address;
    uint32_t hash = 2166136261u;
    for (int i = 0; i < 8; i++) hash = (hash ^ bytes[i]) * 16777619u;
    return (hash ^ hash >> 16) % ECHO_BUCKETS;
}

static void fill(struct echo_bucket *bucket, double rate, double elapsed) {
    double most = rate < 1 ? 1 : rate;
    double tokens = bucket->filled == 0 ? most : bucket->tokens + (elapsed - bucket->filled) * rate;
    bucket->tokens = tokens < most ? tokens : most;
    bucket->filled = elapsed > 0 ? elapsed : 1e-9;
}

int echo_limit_admits(struct echo_limit *limit, const uint8_t address[16], double rate, double elapsed) {
    struct echo_bucket *source = &limit->sources[bucket_of(address)];
    fill(source, rate, elapsed);
    fill(&limit->all, rate * ECHO_SOURCES_AT_ONCE, elapsed);
    if (rate <= 0 || source->tokens < 1 || limit->all.tokens < 1) return 0;
    source->tokens -= 1;
    limit->all.tokens -= 1;
    return 1;
}
