#include "targets.h"

#include <string.h>

#include "check.h"

static void reads(const char *text, size_t size, enum targets_line kind, const char *name) {
    char line[TARGETS_LINE];
    FILE *file = fmemopen((void *)text, size, "r");
    CHECK(file != NULL);
    CHECK_EQUAL(targets_next(file, line), kind);
    if (kind == TARGETS_NAME) CHECK(strcmp(line, name) == 0);
    /* Whatever it was, it was the whole line. */
    CHECK_EQUAL(targets_next(file, line), TARGETS_NAME);
    CHECK(strcmp(line, "next") == 0);
    CHECK_EQUAL(targets_next(file, line), TARGETS_END);
    fclose(file);
}

static void reads_text(const char *text, enum targets_line kind, const char *name) {
    reads(text, strlen(text), kind, name);
}

static void reads_length(size_t length, enum targets_line kind) {
    char text[3 * TARGETS_LINE], name[TARGETS_LINE] = "";
    memset(text, 'x', length);
    strcpy(text + length, "\nnext");
    if (length < TARGETS_LINE) memset(name, 'x', length);
    reads_text(text, kind, name);
}

int main(void) {
    reads_text("a.b\nnext\n", TARGETS_NAME, "a.b");
    reads_text("  fe80::1%eth0 \t# here\r\nnext", TARGETS_NAME, "fe80::1%eth0");
    reads_text("a#b\nnext", TARGETS_NAME, "a");
    reads_text("\nnext", TARGETS_EMPTY, NULL);
    reads_text(" # a b\nnext", TARGETS_EMPTY, NULL);
    reads_text("a b\nnext", TARGETS_SEVERAL, NULL);
    reads("a\0b\nnext", 8, TARGETS_NO_TEXT, NULL);
    reads_length(1000, TARGETS_NAME);
    reads_length(1001, TARGETS_TOO_LONG);
    reads_length(2500, TARGETS_TOO_LONG);
    return 0;
}
