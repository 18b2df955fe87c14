#include "targets.h"

#include <string.h>

/* Reads up to the end of the line, however long it is. */
static enum targets_line read_line(FILE *file, char line[TARGETS_LINE]) {
    enum targets_line kind = TARGETS_NAME;
    size_t length = 0;
    int c;
    while ((c = getc(file)) != EOF && c != '\n') {
        if (length + 1 == TARGETS_LINE) kind = TARGETS_TOO_LONG;
        else if (c == 0) kind = TARGETS_NO_TEXT;
        else line[length++] = (char)c;
    }
    line[length] = 0;
    return c == EOF && length == 0 && kind == TARGETS_NAME ? TARGETS_END : kind;
}

enum targets_line targets_next(FILE *file, char line[TARGETS_LINE]) {
    enum targets_line kind = read_line(file, line);
    if (kind != TARGETS_NAME) return kind;
    line[strcspn(line, "#\r")] = 0;
    const char *start = line + strspn(line, " \t");
    size_t length = strcspn(start, " \t");
    if (start[length + strspn(start + length, " \t")]) return TARGETS_SEVERAL;
    memmove(line, start, length);
    line[length] = 0;
    return length ? TARGETS_NAME : TARGETS_EMPTY;
}

const char *targets_problem(enum targets_line kind) {
    switch (kind) {
    case TARGETS_TOO_LONG: return "the line is longer than 1000 bytes";
    case TARGETS_SEVERAL: return "there is more than one target in the line";
    case TARGETS_NO_TEXT: return "the line holds a zero byte";
    case TARGETS_END: case TARGETS_NAME: case TARGETS_EMPTY: break;
    }
    return NULL;
}
