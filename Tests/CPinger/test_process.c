/* The memory of a long-running process, and the state of its clock. */
#include "cpprocess.h"

#include <errno.h>
#include <sys/timex.h>

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "support.h"

/* The mapped pages of files that count for this process. */
static long file_pages(void) {
    long size, resident, shared = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm && fscanf(statm, "%ld %ld %ld", &size, &resident, &shared) == 3);
    fclose(statm);
    return shared;
}

/* As large as a program's constants, so that the pages that the check itself needs are negligible. */
static const char constants[4 << 20] = {1};

/* Whether a block of that size is mapped by itself, so that freeing it returns it to the system. */
static int is_mapped(size_t size) {
    size_t before = mallinfo2().hblks;
    void *volatile block = malloc(size);
    CHECK(block != NULL);
    size_t after = mallinfo2().hblks;
    free(block);
    return after > before;
}

static void returns_large_blocks(void) {
    enum { LARGE = 1 << 20, RING = 600 << 10 };
    cpprocess_limit_heap();
    /* A sanitizer's allocator does not do so. */
    if (!is_mapped(LARGE)) return;
    /* Without the call above, glibc would now keep smaller blocks than the freed one. */
    CHECK(is_mapped(RING));
}

static void forgets_the_start(void) {
    long page = sysconf(_SC_PAGESIZE), sum = 0;
    for (size_t i = 0; i < sizeof constants; i += (size_t)page) sum += ((const volatile char *)constants)[i];
    CHECK_EQUAL(sum, 1);
    long before = file_pages();
    CHECK(before * page > (long)sizeof constants);
    cpprocess_forget_start();
    CHECK(file_pages() < before - (long)sizeof constants / page / 2);
    for (size_t i = 0; i < sizeof constants; i += (size_t)page) sum += ((const volatile char *)constants)[i];
    CHECK_EQUAL(sum, 2);
}

static void reads_the_state_of_the_clock(void) {
    struct timex state = {0};
    int answer = adjtimex(&state);
    CHECK_EQUAL(cpprocess_clock_is_synchronised(NULL), answer < 0 ? -errno : (state.status & STA_UNSYNC) == 0);
}

int main(void) {
    reads_the_state_of_the_clock();
    forgets_the_start();
    returns_large_blocks();
    return 0;
}
