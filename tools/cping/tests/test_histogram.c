#include "histogram.h"

#include <string.h>

#include "check.h"

static void nothing(void) {
    histogram h = {0};
    CHECK_EQUAL(histogram_percentile(&h, 50), 0);
    CHECK_EQUAL(histogram_mean(&h), 0);
}

static void small_values_are_exact(void) {
    histogram h = {0};
    for (int64_t value = 1; value <= 100; value++) histogram_add(&h, value);
    CHECK_EQUAL(histogram_percentile(&h, 0), 1);
    CHECK_EQUAL(histogram_percentile(&h, 50), 50);
    CHECK_EQUAL(histogram_percentile(&h, 95), 95);
    CHECK_EQUAL(histogram_percentile(&h, 99), 99);
    CHECK_EQUAL(histogram_percentile(&h, 100), 100);
    CHECK_EQUAL(histogram_mean(&h), 50);
    histogram_clear(&h);
}

/* Against a sorted list, over all sizes of delay: from a microsecond to minutes. */
static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void percentiles_are_near(void) {
    static const double percents[] = {1, 25, 50, 90, 95, 99, 99.9};
    static int64_t values[10000];
    histogram h = {0};
    uint64_t state = 7;
    for (int i = 0; i < 10000; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        values[i] = (int64_t)((state >> 20) & ((UINT64_C(1) << (10 + i % 28)) - 1)) + 1000;
        histogram_add(&h, values[i]);
    }
    qsort(values, 10000, sizeof values[0], ascending);
    for (int i = 0; i < 7; i++) {
        int64_t exact = values[(int)(percents[i] * 100) - 1], near = histogram_percentile(&h, percents[i]);
        CHECK(llabs(near - exact) <= exact / 1000);
    }
    CHECK_EQUAL(h.min, values[0]);
    CHECK_EQUAL(h.max, values[9999]);
    histogram_clear(&h);
}

static void odd_values(void) {
    histogram h = {0};
    histogram_add(&h, -5);
    histogram_add(&h, INT64_MAX / 4);  /* beyond the last octave */
    CHECK_EQUAL(h.min, 0);
    CHECK_EQUAL(h.count, 2);
    CHECK_EQUAL(histogram_percentile(&h, 50), 0);
    CHECK_EQUAL(histogram_percentile(&h, 100), INT64_MAX / 4);
    histogram_clear(&h);
    CHECK_EQUAL(h.count, 0);
}

int main(void) {
    nothing();
    small_values_are_exact();
    percentiles_are_near();
    odd_values();
    return 0;
}
