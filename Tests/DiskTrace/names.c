// Wrappers of libc in the test program. They record which names SQLite's VFS and the store change, and which folders they sync.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace.h"

int unlink(const char *path) {
  int status = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  const char *name;
  uint64_t trace = status == 0 && trace_is_any() ? trace_of(path, &name) : 0;
  if (trace) trace_add(trace, (disk_event){.kind = DISK_REMOVE, .name = name});
  return status;
}

int rename(const char *path, const char *new_path) {
  const char *name, *new_name;
  uint64_t trace = trace_is_any() ? trace_of(path, &name) : 0;
  if (trace && trace_has_fault(trace, DISK_WITHOUT_RENAME)) {
    errno = EIO;
    return -1;
  }
  int status = (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, new_path, 0);
  if (status == 0 && trace && trace_of(new_path, &new_name) == trace) {
    trace_add(trace, (disk_event){.kind = DISK_RENAME, .name = name, .new_name = new_name});
  }
  return status;
}

int link(const char *path, const char *new_path) {
  const char *name, *new_name;
  int status = (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, new_path, 0);
  uint64_t trace = status == 0 && trace_is_any() ? trace_of(path, &name) : 0;
  if (trace && trace_of(new_path, &new_name) == trace) {
    trace_add(trace, (disk_event){.kind = DISK_LINK, .name = name, .new_name = new_name});
  }
  return status;
}

// Whether to skip the sync: of a file in a traced folder, or of the folder itself.
static bool is_simulated(int descriptor) {
  if (!trace_is_any()) return false;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = 0;
  uint64_t trace = trace_of_folder(path);
  if (trace) trace_add(trace, (disk_event){.kind = DISK_SYNC_FOLDER});
  const char *name;
  return trace || trace_of(path, &name);
}

int fsync(int descriptor) { return is_simulated(descriptor) ? 0 : (int)syscall(SYS_fsync, descriptor); }

int fdatasync(int descriptor) { return is_simulated(descriptor) ? 0 : (int)syscall(SYS_fdatasync, descriptor); }
