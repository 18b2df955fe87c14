import CLibssl

/// The server's certificate.
final class ServerTLS: @unchecked Sendable {
  let pointer: OpaquePointer

  init(certificate: String, key: String) throws {
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw ServerError.tls("no memory") }
    pointer = context
    cssl_ignore_missing_close(context)
    guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
      throw ServerError.tls("cannot read the certificate \(certificate)")
    }
    guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
      throw ServerError.tls("cannot read the key \(key)")
    }
  }
}
