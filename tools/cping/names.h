#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>
#include <sys/types.h>

#include "cpinger.h"

enum { NAMES_MOST = 32 };

/* The addresses of a name, in the system resolver's order of preference. */
typedef struct answer {
    int error;  /* 0, or of getaddrinfo */
    size_t count;
    cping_address addresses[NAMES_MOST];  /* without ports */
} answer;

/* Resolves a name or a numeric address. `family` 0: either. A child process resolves names: the C library's resolver would need more
 * memory in this process than the rest of it. Returns NULL, or the error. */
const char *names_resolve(const char *name, int family, uint16_t port, cping_address *address);

/* The same in two steps. The child writes its answer, whole, into the pipe that is returned, or ends without; a negative errno
 * if there is none. It has no capability and no realtime priority, and ends with the calling thread. */
int names_ask(const char *name, int family, pid_t *child);

/* Reads it when it is there, closes the pipe and waits for the child. */
answer names_read(int pipe, pid_t child);

#endif
