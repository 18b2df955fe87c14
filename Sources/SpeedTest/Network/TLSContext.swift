import CLibssl
import Foundation

/// OpenSSL's configuration for the connections of one test. It does not change after `init`, so threads can share it.
final class TLSContext: @unchecked Sendable {
  let pointer: OpaquePointer
  /// Whether a connection must check the certificate against its host.
  let verifies: Bool

  /// - Parameter caFile: A PEM file in place of the certificates of the system. An unreadable one is no error without `verifies`.
  /// - Throws: ``SpeedTestError/tls(_:)`` when the file of certificates cannot be read.
  init(verifies: Bool, caFile: String?) throws(SpeedTestError) {
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw .tls("no memory") }
    pointer = context
    self.verifies = verifies
    _ = cssl_at_least_tls12(context)
    // A write may take a part of the bytes, and be repeated from another address: arrays move.
    _ = cssl_partial_writes(context)
    cssl_ignore_missing_close(context)
    SSL_CTX_set_verify(context, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
    let loaded =
      caFile.map { SSL_CTX_load_verify_locations(context, $0, nil) } ?? SSL_CTX_set_default_verify_paths(context)
    if verifies, loaded != 1 { throw .tls("cannot read certificates from \(caFile ?? "the system")") }
  }

  deinit { SSL_CTX_free(pointer) }
}
