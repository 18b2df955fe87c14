// Loaded before libc in a program under test: its wall clock is off by the seconds in the file $CLOCK_SHIFT, and can be set by writing
// another number there. CLOCK_MONOTONIC is behind by the seconds in the file $ASLEEP, as after a suspend of that length. All other
// clocks are the kernel's.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static long long seconds(const char *variable) {
  const char *path = getenv(variable);
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return 0;
  char text[32] = {0};
  long length = read(file, text, sizeof text - 1);
  close(file);
  return length > 0 ? atoll(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int status = (int)syscall(SYS_clock_gettime, clock, time);
  if (status == 0 && clock == CLOCK_REALTIME) time->tv_sec += seconds("CLOCK_SHIFT");
  if (status == 0 && clock == CLOCK_MONOTONIC) time->tv_sec -= seconds("ASLEEP");
  return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

// Timers of CLOCK_MONOTONIC that were created here; other timers keep their times.
static unsigned char is_monotonic[65536];

int timerfd_create(int clock, int flags) {
  int timer = (int)syscall(SYS_timerfd_create, clock, flags);
  if (timer >= 0 && timer < (int)sizeof is_monotonic) is_monotonic[timer] = clock == CLOCK_MONOTONIC;
  return timer;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *when, struct itimerspec *before) {
  struct itimerspec kernel = *when;
  int is_set = when->it_value.tv_sec != 0 || when->it_value.tv_nsec != 0;
  if (is_set && flags & TFD_TIMER_ABSTIME && timer >= 0 && timer < (int)sizeof is_monotonic && is_monotonic[timer])
    kernel.it_value.tv_sec += seconds("ASLEEP");
  return (int)syscall(SYS_timerfd_settime, timer, flags, &kernel, before);
}
