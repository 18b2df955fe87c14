// Between the parts of the trace.
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>

#include "disk_trace.h"

// The trace that `path` belongs to, and what the path is called in it; 0: none.
uint64_t trace_of(const char *path, const char **name);

// The trace whose folder `path` is; 0: none.
uint64_t trace_of_folder(const char *path);

// Adds an event; what it points to is copied. Does nothing when the trace has ended.
void trace_add(uint64_t trace, disk_event event);

// Whether the trace's folder has that fault.
bool trace_has_fault(uint64_t trace, disk_fault fault);

// Whether there is any trace. Cheap.
bool trace_is_any(void);

// Puts the VFS before SQLite's own. False when SQLite refuses.
bool trace_install_vfs(void);

#endif
