// A VFS that forwards every call to SQLite's own, and records the calls that change files of traced folders.
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

#include "trace.h"

typedef struct {
  sqlite3_file base;
  uint64_t trace;
  int64_t number;
} traced_file;  // SQLite's own file follows it in memory

static sqlite3_vfs *own;
static _Atomic int64_t last_file;

static traced_file *traced(sqlite3_file *file) { return (traced_file *)file; }
static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)(traced(file) + 1); }

static void note(sqlite3_file *file, disk_event event) {
  event.file = traced(file)->number;
  trace_add(traced(file)->trace, event);
}

// MARK: Calls that change the file

static int write_file(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset) {
  int status = real(file)->pMethods->xWrite(real(file), bytes, length, offset);
  if (status == SQLITE_OK) {
    note(file, (disk_event){.kind = DISK_WRITE, .bytes = bytes, .offset = offset, .length = length});
  }
  return status;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  int status = real(file)->pMethods->xTruncate(real(file), size);
  if (status == SQLITE_OK) note(file, (disk_event){.kind = DISK_TRUNCATE, .length = size});
  return status;
}

static int sync_file(sqlite3_file *file, int flags) {
  int status = real(file)->pMethods->xSync(real(file), flags);
  if (status == SQLITE_OK) note(file, (disk_event){.kind = DISK_SYNC});
  return status;
}

// MARK: Calls that do not

static int close_file(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }
static int read_file(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), bytes, length, offset);
}
static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
static int lock_file(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }
static int unlock_file(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
static int check_reserved_lock(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
static int file_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
static int sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int device_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
static int shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}
static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
static void shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int shm_unmap(sqlite3_file *file, int remove) { return real(file)->pMethods->xShmUnmap(real(file), remove); }

// Version 2 has no memory-mapped I/O, which the trace could not see.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

// Version 1 has no shared memory.
static const sqlite3_io_methods methods_without_shared_memory = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
};

// MARK: Opening

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *flags_out) {
  (void)vfs;
  const char *name;
  uint64_t trace = path ? trace_of(path, &name) : 0;
  if (!trace) return own->xOpen(own, path, file, flags, flags_out);
  memset(file, 0, sizeof(traced_file));
  traced(file)->trace = trace;
  traced(file)->number = ++last_file;
  int status = own->xOpen(own, path, real(file), flags, flags_out);
  if (status != SQLITE_OK) return status;
  file->pMethods = trace_has_fault(trace, DISK_WITHOUT_SHARED_MEMORY) ? &methods_without_shared_memory : &methods;
  note(file, (disk_event){.kind = DISK_OPEN, .name = name});
  return SQLITE_OK;
}

static bool is_installed;

static void install(void) {
  static sqlite3_vfs vfs;
  own = sqlite3_vfs_find(NULL);
  if (!own) return;
  // All functions but xOpen are SQLite's own.
  vfs = *own;
  vfs.zName = "disk-trace";
  vfs.szOsFile = (int)sizeof(traced_file) + own->szOsFile;
  vfs.pNext = NULL;
  vfs.xOpen = open_file;
  is_installed = sqlite3_vfs_register(&vfs, 1) == SQLITE_OK;
}

bool trace_install_vfs(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  return is_installed;
}
