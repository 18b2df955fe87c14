/*
 * cpprocess: the memory of a process that runs for hours, and the state of the host's clock.
 */
#ifndef CPPROCESS_H
#define CPPROCESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Unmaps the pages of the program's and its libraries' read-only segments: code and constants. Pages that are used again come back
 * from the page cache with a fault of about a microsecond, without I/O while there is memory; pages that only the start needed
 * stay unmapped. It can be called at any time, in any thread. A debugger's breakpoints in them are lost. */
void cpprocess_forget_start(void);

/* Has glibc give large blocks (128 KiB and more) back to the system when they are freed. By itself it does so only until the first of them is
 * freed, and keeps the later ones in the arena of whichever thread asked: a service that begins drive after drive, each on another thread, would
 * keep some in each. And at most two arenas: glibc's default is eight a processor, each with its own gaps, and a test's threads come to use
 * all of them. To be called once, early. */
void cpprocess_limit_heap(void);

/* Gives the free pages of all of glibc's arenas back to the system. Each of a speed test's threads can leave some in another arena, where
 * nothing uses them again for long. Takes milliseconds, and holds up allocations for that time. */
void cpprocess_return_free_pages(void);

/* Whether the kernel counts the wall clock as synchronised, because a time service disciplines it (adjtimex(2)): 1 or 0; a negative error
 * number when the kernel does not say. maximum_error_us (can be NULL): the largest error of the clock, as the service stated it and the
 * kernel increases it since then. */
int cpprocess_clock_is_synchronised(int64_t *maximum_error_us);

#ifdef __cplusplus
}
#endif

#endif
