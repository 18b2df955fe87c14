/*
 * cpprocess: the memory of a process that runs for hours.
 */
#ifndef CPPROCESS_H
#define CPPROCESS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Unmaps the pages of the program's and its libraries' read-only segments: code and constants. Pages that are used again come back
 * from the page cache with a fault of about a microsecond, without I/O while there is memory; pages that only the start needed
 * stay unmapped. It can be called at any time, in any thread. A debugger's breakpoints in them are lost. */
void cpprocess_forget_start(void);

#ifdef __cplusplus
}
#endif

#endif
