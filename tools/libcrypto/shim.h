/* Debian's OpenSSL, for the HMAC of ping tokens. */
#include <openssl/hmac.h>
