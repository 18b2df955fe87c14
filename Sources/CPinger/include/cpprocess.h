/*
 * cpprocess: what a process that runs for hours costs its host.
 */
#ifndef CPPROCESS_H
#define CPPROCESS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Unmaps the pages of the program's and its libraries' files that nothing was written to: code and constants. What is used
 * again comes back from the page cache with a fault of a microsecond or so, without any I/O as long as there is memory; what only the start
 * needed stays away. May be called at any time, in any thread. A debugger's breakpoints are pages that were written to, and
 * are lost. */
void cpprocess_forget_start(void);

/* Has glibc give large blocks (128 KiB and more) back to the system when they are freed. By itself it does so only until the first of them is
 * freed, and keeps the later ones in the arena of whichever thread asked: a service that begins drive after drive, each on another thread, would
 * keep some in each. To be called once, early. */
void cpprocess_return_large_blocks(void);

#ifdef __cplusplus
}
#endif

#endif
