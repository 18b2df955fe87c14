/* Debian's OpenSSL: TLS of speed tests on plain sockets, and the HMAC of lab tokens.
   A file that uses SOCK_ or MSG_ constants beside this module imports it: in a build of a whole module, as for a release, the compiler assigns
   the constants to the module that included sys/socket.h first. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Swift does not import these macros of functions. */
static inline long cssl_partial_writes(SSL_CTX *context) {
  return SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
static inline long cssl_at_least_tls12(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
static inline long cssl_server_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, name); }
static inline int cssl_wants_read(void) { return SSL_ERROR_WANT_READ; }
static inline int cssl_wants_write(void) { return SSL_ERROR_WANT_WRITE; }
/* Whether the error in OpenSSL's queue is a peer that does not speak TLS: its first bytes are no record. */
static inline int cssl_is_no_tls(unsigned long error) { return ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER; }
static inline int cssl_is_closed(void) { return SSL_ERROR_ZERO_RETURN; }
/* OpenSSL 3 reports an end without close_notify as an error; many servers end so (docs/protocol.md, edge 32). */
static inline void cssl_ignore_missing_close(SSL_CTX *context) {
#ifdef SSL_OP_IGNORE_UNEXPECTED_EOF
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
#endif
}
