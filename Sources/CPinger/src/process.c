/* Releases memory that only the start of the process needed; reads the state of the clock. */
#define _GNU_SOURCE
#include "cpprocess.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/timex.h>
#include <unistd.h>

static int forget_unwritten(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
        /* Where that is not possible, as in the vDSO, nothing is lost. */
        if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void cpprocess_forget_start(void) { dl_iterate_phdr(forget_unwritten, NULL); }

/* The default threshold; set, it no longer follows the blocks that are freed. Two arenas, as many as processors of a small device. */
void cpprocess_limit_heap(void) {
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_ARENA_MAX, 2);
}

void cpprocess_return_free_pages(void) { malloc_trim(0); }

int cpprocess_clock_is_synchronised(int64_t *maximum_error_us) {
    struct timex state = {0};
    if (adjtimex(&state) < 0) return -errno;
    if (maximum_error_us) *maximum_error_us = state.maxerror;
    return (state.status & STA_UNSYNC) == 0;
}
