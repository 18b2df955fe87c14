/* Files of targets: one a line, # starts a comment. */
#ifndef TARGETS_H
#define TARGETS_H

#include <stddef.h>
#include <stdio.h>

/* A name or an address, with spaces round it removed, lies in `line`. */
enum targets_line { TARGETS_END, TARGETS_NAME, TARGETS_EMPTY, TARGETS_TOO_LONG, TARGETS_SEVERAL, TARGETS_NO_TEXT };

enum { TARGETS_LINE = 1001 };

enum targets_line targets_next(FILE *file, char line[TARGETS_LINE]);

/* The error of a line; NULL: none. */
const char *targets_problem(enum targets_line kind);

#endif
