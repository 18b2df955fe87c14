// The events of each traced folder.
#include "trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct trace {
  struct trace *next;
  uint64_t number;
  char *folder;
  size_t folder_length;
  disk_event *events;
  size_t count, room;
  unsigned faults;
} trace;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static trace *traces;
static uint64_t last_number;
static atomic_int trace_count;

bool trace_is_any(void) { return atomic_load(&trace_count) > 0; }

static trace *find(uint64_t number) {
  trace *found = traces;
  while (found && found->number != number) found = found->next;
  return found;
}

uint64_t disk_trace_begin(const char *folder) {
  trace *made = calloc(1, sizeof *made);
  if (!made || !trace_install_vfs() || !(made->folder = strdup(folder))) {
    free(made);
    return 0;
  }
  made->folder_length = strlen(folder);
  pthread_mutex_lock(&lock);
  uint64_t number = made->number = ++last_number;
  made->next = traces;
  traces = made;
  atomic_fetch_add(&trace_count, 1);
  pthread_mutex_unlock(&lock);
  return number;
}

static void free_events(trace *ended) {
  for (size_t i = 0; i < ended->count; i++) {
    free((void *)ended->events[i].name);
    free((void *)ended->events[i].new_name);
    free((void *)ended->events[i].bytes);
  }
  free(ended->events);
}

void disk_trace_end(uint64_t number) {
  pthread_mutex_lock(&lock);
  trace **link = &traces;
  while (*link && (*link)->number != number) link = &(*link)->next;
  trace *ended = *link;
  if (ended) {
    *link = ended->next;
    atomic_fetch_sub(&trace_count, 1);
  }
  pthread_mutex_unlock(&lock);
  if (!ended) return;
  free_events(ended);
  free(ended->folder);
  free(ended);
}

size_t disk_trace_count(uint64_t number) {
  pthread_mutex_lock(&lock);
  trace *found = find(number);
  size_t count = found ? found->count : 0;
  pthread_mutex_unlock(&lock);
  return count;
}

disk_event disk_trace_event(uint64_t number, size_t index) {
  pthread_mutex_lock(&lock);
  trace *found = find(number);
  if (!found || index >= found->count) abort();
  disk_event event = found->events[index];
  pthread_mutex_unlock(&lock);
  return event;
}

void disk_trace_set_faults(uint64_t number, unsigned faults) {
  pthread_mutex_lock(&lock);
  trace *found = find(number);
  if (found) found->faults = faults;
  pthread_mutex_unlock(&lock);
}

bool trace_has_fault(uint64_t number, disk_fault fault) {
  pthread_mutex_lock(&lock);
  trace *found = find(number);
  bool has = found && (found->faults & fault);
  pthread_mutex_unlock(&lock);
  return has;
}

uint64_t trace_of(const char *path, const char **name) {
  uint64_t number = 0;
  pthread_mutex_lock(&lock);
  for (trace *each = traces; each && !number; each = each->next) {
    if (strncmp(path, each->folder, each->folder_length) != 0 || path[each->folder_length] != '/') continue;
    const char *rest = path + each->folder_length + 1;
    if (strchr(rest, '/')) continue;
    *name = rest;
    number = each->number;
  }
  pthread_mutex_unlock(&lock);
  return number;
}

uint64_t trace_of_folder(const char *path) {
  uint64_t number = 0;
  pthread_mutex_lock(&lock);
  for (trace *each = traces; each && !number; each = each->next) {
    if (strcmp(path, each->folder) == 0) number = each->number;
  }
  pthread_mutex_unlock(&lock);
  return number;
}

// Aborts when memory runs out: the test would have no result.
static void *needed(void *memory) {
  if (!memory) abort();
  return memory;
}

static char *copy_of_text(const char *text) { return text ? needed(strdup(text)) : NULL; }

static uint8_t *copy_of_bytes(const uint8_t *bytes, int64_t length) {
  return bytes ? memcpy(needed(malloc((size_t)length + 1)), bytes, (size_t)length) : NULL;
}

void trace_add(uint64_t number, disk_event event) {
  pthread_mutex_lock(&lock);
  trace *found = find(number);
  if (found) {
    if (found->count == found->room) {
      found->room = found->room ? 2 * found->room : 256;
      found->events = needed(realloc(found->events, found->room * sizeof *found->events));
    }
    event.name = copy_of_text(event.name);
    event.new_name = copy_of_text(event.new_name);
    event.bytes = copy_of_bytes(event.bytes, event.length);
    found->events[found->count++] = event;
  }
  pthread_mutex_unlock(&lock);
}
