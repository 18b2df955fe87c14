/* Debian's zlib, for bodies that a server takes compressed. */
#include <zlib.h>
