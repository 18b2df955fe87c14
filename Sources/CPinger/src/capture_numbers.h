/* The numbers in the names of capture files. */
#ifndef CPCAPTURE__NUMBERS_H
#define CPCAPTURE__NUMBERS_H

#include <stdint.h>

/* The greatest one among the files of this path, of whatever capture; 0: there are none, or their directory cannot be read. */
uint32_t cpcapture__newest_number(const char *path);

#endif
