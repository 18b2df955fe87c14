/* What a long-running process costs. */
#include "cpprocess.h"

#include <unistd.h>

#include "support.h"

/* Pages of files that are mapped and counted for this process. */
static long file_pages(void) {
    long size, resident, shared = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    CHECK(statm && fscanf(statm, "%ld %ld %ld", &size, &resident, &shared) == 3);
    fclose(statm);
    return shared;
}

/* As large as a program's constants, so that the pages that the check itself needs do not count. */
static const char constants[4 << 20] = {1};

int main(void) {
    long page = sysconf(_SC_PAGESIZE), sum = 0;
    for (size_t i = 0; i < sizeof constants; i += (size_t)page) sum += ((const volatile char *)constants)[i];
    CHECK_EQUAL(sum, 1);
    long before = file_pages();
    CHECK(before * page > (long)sizeof constants);
    cpprocess_forget_start();
    CHECK(file_pages() < before - (long)sizeof constants / page / 2);
    for (size_t i = 0; i < sizeof constants; i += (size_t)page) sum += ((const volatile char *)constants)[i];
    CHECK_EQUAL(sum, 2);
    return 0;
}
