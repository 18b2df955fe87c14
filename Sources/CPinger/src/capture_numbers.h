/* The numbers in the names of capture files. */
#ifndef CPCAPTURE__NUMBERS_H
#define CPCAPTURE__NUMBERS_H

#include <stdint.h>

/* The greatest file number under this path, from any capture; 0: there is none, or the directory cannot be read. */
uint32_t cpcapture__newest_number(const char *path);

#endif
