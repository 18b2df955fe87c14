// Records each call by which SQLite and the program change the files of one folder, so that a test can compute the files
// that a power cut at any moment would leave.
//
// A VFS in front of the default one records the calls of SQLite. Wrappers of libc record the changes of names: remove, rename,
// link, sync of the folder. Each call is also executed, except syncs: the test decides which writes are durable, and does not
// wait for a disk. Files outside of traced folders are not affected. The WAL index (-shm) is not traced: it is memory.
#ifndef DISK_TRACE_H
#define DISK_TRACE_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
  DISK_OPEN,         // `name` was opened as `file`, and created if it was missing
  DISK_WRITE,        // `bytes` at `offset` of `file`
  DISK_TRUNCATE,     // `file` has `length` bytes
  DISK_SYNC,         // the writes to `file` and its length are durable
  DISK_REMOVE,       // `name` is gone
  DISK_RENAME,       // `name` is now `new_name`
  DISK_LINK,         // the file `name` is also `new_name`
  DISK_SYNC_FOLDER,  // all names are durable
} disk_event_kind;

typedef struct {
  disk_event_kind kind;
  int64_t file;          // a number for each opening
  const char *name;      // in the folder; NULL where it does not apply, as below
  const char *new_name;
  const uint8_t *bytes;
  int64_t offset;
  int64_t length;
} disk_event;

// Begins to trace the files directly in `folder`, an absolute path without links.
// Returns a number for the trace, 0 when there is no memory or SQLite refuses the VFS.
uint64_t disk_trace_begin(const char *folder);

// The number of events so far.
size_t disk_trace_count(uint64_t trace);

// The event at `index`, valid until the trace ends. The index must be below the count.
disk_event disk_trace_event(uint64_t trace, size_t index);

// Faults that a disk can have.
typedef enum {
  DISK_WITHOUT_SHARED_MEMORY = 1,  // SQLite cannot keep a WAL index for files that are opened from now on
  DISK_WITHOUT_RENAME = 2,         // EIO
} disk_fault;

// Sets the faults of the folder from now on, added up.
void disk_trace_set_faults(uint64_t trace, unsigned faults);

// Ends the trace. Files of the folder may still be open: their changes are no longer recorded, and their syncs are real again.
void disk_trace_end(uint64_t trace);

#endif
