#include "token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

static void sign(const char *secret, const uint8_t *bytes, size_t length, uint8_t *signature, size_t size) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    HMAC(EVP_sha256(), secret, (int)strlen(secret), bytes, length, digest, NULL);
    memcpy(signature, digest, size);
}

static void sign_time(const char *secret, const uint8_t time[4], uint8_t signature[8]) {
    sign(secret, time, 4, signature, 8);
}

static void sign_address(const char *secret, const uint8_t time[4], const uint8_t address[16], uint8_t signature[4]) {
    uint8_t text[20];
    memcpy(text, time, 4);
    memcpy(text + 4, address, 16);
    sign(secret, text, sizeof text, signature, 4);
}

enum token_verdict token_check(const uint8_t token[TOKEN_SIZE], const uint8_t address[16], int64_t now,
                               const char *const *secrets, size_t secret_count) {
    int64_t minted = (int64_t)((uint32_t)token[0] << 24 | (uint32_t)token[1] << 16 | (uint32_t)token[2] << 8 | token[3]);
    if (now - minted > TOKEN_MAX_AGE || minted - now > TOKEN_MAX_AHEAD) return TOKEN_EXPIRED;
    if (secret_count == 0) return TOKEN_OTHER_ADDRESS;
    for (size_t i = 0; i < secret_count; i++) {
        uint8_t by_time[8], by_address[4];
        sign_time(secrets[i], token, by_time);
        if (CRYPTO_memcmp(by_time, token + 4, 8) != 0) continue;
        sign_address(secrets[i], token, address, by_address);
        return CRYPTO_memcmp(by_address, token + 12, 4) == 0 ? TOKEN_VALID : TOKEN_OTHER_ADDRESS;
    }
    return TOKEN_UNKNOWN;
}

void token_mint(uint8_t token[TOKEN_SIZE], const uint8_t address[16], uint32_t now, const char *secret) {
    for (int i = 0; i < 4; i++) token[i] = (uint8_t)(now >> (24 - 8 * i));
    sign_time(secret, token, token + 4);
    sign_address(secret, token, address, token + 12);
}
