// Loaded before libc in a program under test, kills it -9 just before the N-th of the calls that change files or talk to servers.
// It counts over all threads and all calls; strace's injection counts per thread and per call.
//
//   KILL_AT=N       kill before the N-th call; without it, do not kill
//   KILL_TORN=1     if that call writes, half of its bytes are written first
//   KILL_ON=files   count calls on files only: a measurement has thousands of calls on sockets
//   KILL_TRACE=F    append the call at which it was killed to the file F; without KILL_AT every call
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES = 1, SOCKETS = 2 };

static atomic_long calls;
static long kill_at;
static int is_torn, on_files_only, trace = -1;

__attribute__((constructor)) static void read_wishes(void) {
  const char *at = getenv("KILL_AT"), *path = getenv("KILL_TRACE");
  kill_at = at ? atol(at) : 0;
  is_torn = getenv("KILL_TORN") != NULL;
  on_files_only = getenv("KILL_ON") != NULL;
  if (path) trace = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

// The file's name without its folders, or the kind of the descriptor.
static void describe(int fd, char *name, size_t size) {
  char link[32], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = syscall(SYS_readlink, link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  const char *slash = strrchr(path, '/');
  snprintf(name, size, "%s", strncmp(path, "socket:", 7) == 0 ? "socket" : slash ? slash + 1 : path);
}

static void note(const char *call, const char *subject) {
  char line[600];
  int length = snprintf(line, sizeof line, "%s %s\n", call, subject);
  if (trace >= 0) syscall(SYS_write, trace, line, (size_t)length);
}

static void die(void) {
  for (;;) syscall(SYS_kill, getpid(), SIGKILL);
}

// Counts a call, and kills at the N-th. Returns 1 if the caller must write half of it first.
static int is_the_one(const char *call, const char *subject, int may_tear) {
  long number = atomic_fetch_add(&calls, 1) + 1;
  if (kill_at == 0) note(call, subject);
  if (number != kill_at) return 0;
  note(call, subject);
  if (!may_tear || !is_torn) die();
  return 1;
}

static int counts(int fd, int kinds) {
  struct stat status;
  if (on_files_only) kinds &= FILES;
  if (fd <= 2 || fd == trace || syscall(SYS_fstat, fd, &status) != 0) return 0;
  return (kinds & FILES && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) || (kinds & SOCKETS && S_ISSOCK(status.st_mode));
}

static int on(int fd, const char *call, int kinds, int may_tear) {
  char subject[512];
  if (!counts(fd, kinds)) return 0;
  describe(fd, subject, sizeof subject);
  return is_the_one(call, subject, may_tear);
}

#define REAL(name)                                              \
  ({                                                            \
    static __typeof__(&name) real;                              \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    real;                                                       \
  })

// A call on an open descriptor, the first parameter.
#define CALL(type, name, kinds, parameters, arguments) \
  type name parameters {                               \
    on(fd, #name, kinds, 0);                           \
    return REAL(name) arguments;                       \
  }

// A call that writes `length` bytes, and can be torn.
#define WRITING_CALL(name, parameters, arguments) \
  ssize_t name parameters {                       \
    if (on(fd, #name, FILES | SOCKETS, 1)) {      \
      length /= 2;                                \
      REAL(name) arguments;                       \
      die();                                      \
    }                                             \
    return REAL(name) arguments;                  \
  }

// A call on a path.
#define PATH_CALL(type, name, parameters, arguments) \
  type name parameters {                             \
    const char *slash = strrchr(path, '/');          \
    is_the_one(#name, slash ? slash + 1 : path, 0);  \
    return REAL(name) arguments;                     \
  }

WRITING_CALL(write, (int fd, const void *bytes, size_t length), (fd, bytes, length))
WRITING_CALL(pwrite, (int fd, const void *bytes, size_t length, off_t at), (fd, bytes, length, at))
WRITING_CALL(pwrite64, (int fd, const void *bytes, size_t length, off64_t at), (fd, bytes, length, at))
WRITING_CALL(send, (int fd, const void *bytes, size_t length, int flags), (fd, bytes, length, flags))
WRITING_CALL(sendto, (int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t size),
             (fd, bytes, length, flags, to, size))
CALL(ssize_t, writev, FILES | SOCKETS, (int fd, const struct iovec *parts, int count), (fd, parts, count))
CALL(ssize_t, sendmsg, SOCKETS, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
CALL(int, sendmmsg, SOCKETS, (int fd, struct mmsghdr *messages, unsigned count, int flags), (fd, messages, count, flags))

CALL(int, fsync, FILES, (int fd), (fd))
CALL(int, fdatasync, FILES, (int fd), (fd))
CALL(int, ftruncate, FILES, (int fd, off_t length), (fd, length))
CALL(int, ftruncate64, FILES, (int fd, off64_t length), (fd, length))
CALL(int, posix_fallocate, FILES, (int fd, off_t at, off_t length), (fd, at, length))
CALL(int, posix_fallocate64, FILES, (int fd, off64_t at, off64_t length), (fd, at, length))
CALL(int, close, SOCKETS, (int fd), (fd))

CALL(int, connect, SOCKETS, (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
CALL(int, shutdown, SOCKETS, (int fd, int how), (fd, how))
CALL(ssize_t, read, SOCKETS, (int fd, void *bytes, size_t length), (fd, bytes, length))
CALL(ssize_t, readv, SOCKETS, (int fd, const struct iovec *parts, int count), (fd, parts, count))
CALL(ssize_t, recv, SOCKETS, (int fd, void *bytes, size_t length, int flags), (fd, bytes, length, flags))
CALL(ssize_t, recvfrom, SOCKETS,
     (int fd, void *bytes, size_t length, int flags, struct sockaddr *from, socklen_t *size),
     (fd, bytes, length, flags, from, size))
CALL(ssize_t, recvmsg, SOCKETS, (int fd, struct msghdr *message, int flags), (fd, message, flags))
CALL(int, recvmmsg, SOCKETS, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *limit),
     (fd, messages, count, flags, limit))

PATH_CALL(int, rename, (const char *path, const char *to), (path, to))
PATH_CALL(int, unlink, (const char *path), (path))
PATH_CALL(int, mkdir, (const char *path, mode_t mode), (path, mode))

// Calls that can create a file.
#define OPEN_CALL(name)                                             \
  int name(const char *path, int flags, ...) {                      \
    va_list rest;                                                   \
    va_start(rest, flags);                                          \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;       \
    va_end(rest);                                                   \
    const char *slash = strrchr(path, '/');                         \
    if (flags & O_CREAT) is_the_one(#name, slash ? slash + 1 : path, 0); \
    return REAL(name)(path, flags, mode);                           \
  }
OPEN_CALL(open)
OPEN_CALL(open64)
