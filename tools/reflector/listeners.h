/* The sockets for requests. */
#ifndef REFLECTOR_LISTENERS_H
#define REFLECTOR_LISTENERS_H

#include "options.h"

struct listener {
    int fd;
    int other_fd;  /* same address, another port */
    uint16_t port;
};

/* Opens a socket for each address and prints a line for each; on failure prints one line and exits with 1. */
void listeners_open(struct listener *listeners, const struct options *options);
void listeners_close(struct listener *listeners, size_t count);

#endif
