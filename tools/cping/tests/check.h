#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

#define CHECK_EQUAL(a, b)                                                                              \
    do {                                                                                               \
        long long x = (long long)(a), y = (long long)(b);                                              \
        if (x != y) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: %lld and %lld\n", __FILE__, __LINE__, #a " == " #b, x, y);     \
            exit(1);                                                                                   \
        }                                                                                              \
    } while (0)

#endif
