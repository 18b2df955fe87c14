import CLibssl
import Foundation

/// TLS upon a ``PlainSocket``: ``handshake()`` until it returns `nil`, then reads and writes.
///
/// OpenSSL's queue of errors belongs to the thread. It is cleared before each call, so that no old error is reported.
final class TLSSocket: Transport {
  private let socket: PlainSocket
  private let ssl: OpaquePointer
  /// Whether the server's certificate must be valid.
  private let verifies: Bool

  /// - Parameter host: For the certificate, and for SNI unless it is an address: some servers abort a handshake whose SNI is one (edge 4).
  init(_ socket: PlainSocket, context: TLSContext, host: String) throws(SpeedTestError) {
    guard let ssl = SSL_new(context.pointer) else { throw .tls("no memory") }
    (self.ssl, self.socket) = (ssl, socket)
    verifies = context.verifies
    SSL_set_fd(ssl, socket.descriptor)
    SSL_set_connect_state(ssl)
    if Self.isSentAsName(host) {
      _ = cssl_server_name(ssl, host)
      if context.verifies { SSL_set1_host(ssl, host) }
    } else if context.verifies {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host)
    }
  }

  /// Whether `host` is a name: an address does not go into SNI.
  static func isSentAsName(_ host: String) -> Bool {
    var address = in6_addr()
    return inet_pton(AF_INET, host, &address) != 1 && inet_pton(AF_INET6, host, &address) != 1
  }

  /// One step of the handshake. `nil`: done; else the event of poll to wait for before the next step.
  /// - Throws: ``SpeedTestError/tls(_:)``, ``SpeedTestError/untrusted(_:)``, ``SpeedTestError/noTLS`` or ``SpeedTestError/closed``.
  func handshake() throws(SpeedTestError) -> Int16? {
    ERR_clear_error()
    let code = SSL_connect(ssl)
    if code == 1 { return nil }
    switch SSL_get_error(ssl, code) {
    case cssl_wants_read(): return Int16(POLLIN)
    case cssl_wants_write(): return Int16(POLLOUT)
    default:
      let verification = SSL_get_verify_result(ssl)
      // Without verification a bad certificate does not fail the handshake: the server's reason counts.
      if verifies, verification != X509_V_OK {
        throw .untrusted(String(cString: X509_verify_cert_error_string(verification)))
      }
      // An end in the handshake can be the server's closing of a fresh connection (edge 5).
      guard ERR_peek_error() != 0 else { throw .closed }
      if cssl_is_no_tls(ERR_peek_error()) != 0 { throw .noTLS }
      throw .tls(Self.reason())
    }
  }

  /// The text of the first error in the queue.
  private static func reason() -> String {
    var text = [CChar](repeating: 0, count: 256)
    ERR_error_string_n(ERR_get_error(), &text, text.count)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SpeedTestError) -> Int {
    try move(buffer.count) { moved, most in SSL_read(ssl, buffer.baseAddress.map { $0 + moved }, most) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SpeedTestError) -> Int {
    try move(bytes.count) { moved, most in SSL_write(ssl, bytes.baseAddress.map { $0 + moved }, most) }
  }

  /// Calls OpenSSL until it moves no more bytes: it returns after each record of 16 KiB, and several fill a buffer before the curve gets a point
  /// (edge 32).
  /// - Parameter part: Moves up to so many bytes behind those that were moved.
  private func move(_ count: Int, _ part: (_ moved: Int, Int32) -> Int32) throws(SpeedTestError) -> Int {
    ERR_clear_error()
    var total = 0
    while total < count {
      let code = part(total, Int32(clamping: count - total))
      guard code > 0 else { return total > 0 ? total : try nothing(code) }
      total += Int(code)
    }
    return total
  }

  /// The meaning of a call that moved no byte.
  /// - Returns: 0 when it is to be repeated later. TLS may have to read before it can write; callers poll for their own event
  ///   and repeat the call all the same.
  private func nothing(_ code: Int32) throws(SpeedTestError) -> Int {
    switch SSL_get_error(ssl, code) {
    case cssl_wants_read(), cssl_wants_write(): return 0
    case cssl_is_closed(): throw .closed
    default:
      guard ERR_peek_error() != 0 else { throw .closed }
      throw .tls(Self.reason())
    }
  }

  var hasBuffered: Bool { SSL_pending(ssl) > 0 }
  var descriptor: Int32 { socket.descriptor }
  var encryption: String? {
    guard let version = SSL_get_version(ssl), let cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)) else {
      return "TLS"
    }
    return "\(String(cString: version)) (\(String(cString: cipher)))"
  }

  func close() { socket.close() }

  deinit { SSL_free(ssl) }
}
