#ifndef NAMES_H
#define NAMES_H

#include "cpinger.h"

/* An address for a name or a number. `family` 0: either. A name is looked up by a child process: the C library's resolver
 * would cost this one more memory than everything else it does. Returns NULL, or what went wrong. */
const char *names_resolve(const char *name, int family, uint16_t port, cping_address *address);

#endif
