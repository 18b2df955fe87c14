#pragma once

#include <stdint.h>

static inline void cping__put16(uint8_t *p, uint16_t v) {
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void cping__put32(uint8_t *p, uint32_t v) {
    cping__put16(p, (uint16_t)(v >> 16));
    cping__put16(p + 2, (uint16_t)v);
}

static inline void cping__put64(uint8_t *p, uint64_t v) {
    cping__put32(p, (uint32_t)(v >> 32));
    cping__put32(p + 4, (uint32_t)v);
}

static inline uint16_t cping__get16(const uint8_t *p) {
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t cping__get32(const uint8_t *p) {
    return (uint32_t)cping__get16(p) << 16 | cping__get16(p + 2);
}

static inline uint64_t cping__get64(const uint8_t *p) {
    return (uint64_t)cping__get32(p) << 32 | cping__get32(p + 4);
}
