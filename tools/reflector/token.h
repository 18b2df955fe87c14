/* The ping token: 16 bytes that permit pings from one address, signed with a shared secret. */
#ifndef REFLECTOR_TOKEN_H
#define REFLECTOR_TOKEN_H

#include <stddef.h>
#include <stdint.h>

enum { TOKEN_SIZE = 16, TOKEN_MAX_AGE = 4 * 3600, TOKEN_MAX_AHEAD = 30 };

enum token_verdict { TOKEN_EXPIRED, TOKEN_UNKNOWN, TOKEN_OTHER_ADDRESS, TOKEN_VALID };

/* `address` is the source as 16 bytes, IPv4 as ::ffff:a.b.c.d. `now` is in Unix seconds. Without secrets every token that
 * has not expired is TOKEN_OTHER_ADDRESS, as on the RTR server. */
enum token_verdict token_check(const uint8_t token[TOKEN_SIZE], const uint8_t address[16], int64_t now,
                               const char *const *secrets, size_t secret_count);

void token_mint(uint8_t token[TOKEN_SIZE], const uint8_t address[16], uint32_t now, const char *secret);

#endif
