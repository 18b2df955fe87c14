/* The sockets that requests come to. */
#ifndef REFLECTOR_LISTENERS_H
#define REFLECTOR_LISTENERS_H

#include "options.h"

struct listener {
    int fd;
    int other_fd;  /* same address, another port */
};

/* Opens one for each address and prints a line for each; exits with 1 and one line if that is not possible. */
void listeners_open(struct listener *listeners, const struct options *options);
void listeners_close(struct listener *listeners, size_t count);

#endif
