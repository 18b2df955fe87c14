// Functions shared by the parts of the trace.
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>

#include "disk_trace.h"

// The trace of `path`, and the name of `path` in its folder. 0 without a trace.
uint64_t trace_of(const char *path, const char **name);

// The trace whose folder is `path`, or 0.
uint64_t trace_of_folder(const char *path);

// Adds a copy of the event, its texts and its bytes. Does nothing when the trace has ended.
void trace_add(uint64_t trace, disk_event event);

// Whether the trace's folder has that fault.
bool trace_has_fault(uint64_t trace, disk_fault fault);

// Whether there is any trace. Cheap.
bool trace_is_any(void);

// Puts the VFS before SQLite's own. False when SQLite refuses.
bool trace_install_vfs(void);

#endif
