// What SQLite and the program do to the files of one folder, call by call, so that a test can work out what a power cut at any
// moment would have left of them.
//
// SQLite is seen through a VFS that stands before the default one; names (remove, rename, link, the sync of the folder) are seen where
// libc is called. Everything is also done, but for syncs: what is durable is for the test to decide, so that none has to wait for
// a disk. Files outside of traced folders are not touched in any way. The WAL index (-shm) is no part of it: it is memory.
#ifndef DISK_TRACE_H
#define DISK_TRACE_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
  DISK_OPEN,         // `file` is now what `name` names; it may have been made
  DISK_WRITE,        // `bytes` at `offset` of `file`
  DISK_TRUNCATE,     // `file` has `length` bytes
  DISK_SYNC,         // all that was written to `file`, and its length, are durable
  DISK_REMOVE,       // `name` is gone
  DISK_RENAME,       // what was `name` is `new_name`
  DISK_LINK,         // what is `name` is `new_name` as well
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

// Begins to trace what lies directly in `folder`, an absolute path without links.
// Returns a number for the trace, 0 when there is no memory or SQLite refuses the VFS.
uint64_t disk_trace_begin(const char *folder);

// How much has happened up to now.
size_t disk_trace_count(uint64_t trace);

// The event with that index, valid until the trace ends. There must be one.
disk_event disk_trace_event(uint64_t trace, size_t index);

// What a disk can be bad at.
typedef enum {
  DISK_WITHOUT_SHARED_MEMORY = 1,  // SQLite cannot keep a WAL index for files that are opened from now on
  DISK_WITHOUT_RENAME = 2,         // EIO
} disk_fault;

// From now on the folder has these faults, added up.
void disk_trace_set_faults(uint64_t trace, unsigned faults);

// Forgets the trace. Files of the folder may still be open; what happens to them is recorded no more, and syncs are real again.
void disk_trace_end(uint64_t trace);

#endif
