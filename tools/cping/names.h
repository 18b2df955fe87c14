#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>
#include <sys/types.h>

#include "cpinger.h"

enum { NAMES_MOST = 32 };

/* What the system's resolver says of a name, in its order of preference. */
typedef struct answer {
    int error;  /* 0, or of getaddrinfo */
    size_t count;
    cping_address addresses[NAMES_MOST];  /* without ports */
} answer;

/* An address for a name or a number. `family` 0: either. A name is looked up by a child process: the C library's resolver
 * would cost this one more memory than everything else it does. Returns NULL, or what went wrong. */
const char *names_resolve(const char *name, int family, uint16_t port, cping_address *address);

/* The same in two steps. The child writes its answer, whole, into the pipe that is returned, or ends without; a negative errno
 * if there is none. It has no capability and no realtime priority, and ends with the thread that asked. */
int names_ask(const char *name, int family, pid_t *child);

/* Reads it when it is there, closes the pipe and waits for the child. */
answer names_read(int pipe, pid_t child);

#endif
