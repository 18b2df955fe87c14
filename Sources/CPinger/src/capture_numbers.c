#if CPINGER_CAPTURE

#define _GNU_SOURCE
#include "capture_numbers.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* 0: `name` is no file of a capture whose path ends with `base`. */
static uint32_t number_of(const char *name, const char *base) {
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '-') return 0;
    const char *number = name + length + 1;
    size_t digits = strspn(number, "0123456789");
    if (digits < 4 || digits > 9 || strcmp(number + digits, ".pcapng") != 0) return 0;
    return (uint32_t)strtoul(number, NULL, 10);
}

uint32_t cpcapture__newest_number(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    DIR *directory = folder ? opendir(folder) : NULL;
    uint32_t newest = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        uint32_t number = number_of(entry->d_name, slash ? slash + 1 : path);
        if (number > newest) newest = number;
    }
    if (directory) closedir(directory);
    free(folder);
    return newest;
}

#endif
