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

#ifdef __cplusplus
}
#endif

#endif
