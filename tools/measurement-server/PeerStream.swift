import CLibssl
import Foundation

/// A client's connection: blocking, 30 s a read or write, plain or TLS.
final class PeerStream {
  let descriptor: Int32
  private var ssl: OpaquePointer?

  init(descriptor: Int32, tls: ServerTLS?) throws {
    self.descriptor = descriptor
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    guard let tls else { return }
    guard let ssl = SSL_new(tls.pointer) else { throw ServerError.tls("no memory") }
    self.ssl = ssl
    SSL_set_fd(ssl, descriptor)
    guard SSL_accept(ssl) == 1 else { throw ServerError.tls("handshake failed") }
  }

  deinit {
    if let ssl {
      SSL_shutdown(ssl)
      SSL_free(ssl)
    }
    close(descriptor)
  }

  /// Whether bytes can be read that poll does not report, because they are already decrypted.
  var hasBuffered: Bool { ssl.map { SSL_pending($0) > 0 } ?? false }

  func read(into bytes: UnsafeMutableRawBufferPointer) throws -> Int {
    let count =
      if let ssl {
        Int(SSL_read(ssl, bytes.baseAddress, Int32(clamping: bytes.count)))
      } else {
        recv(descriptor, bytes.baseAddress, bytes.count, 0)
      }
    guard count > 0 else { throw ServerError.closed }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    var sent = 0
    while sent < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
      let count =
        if let ssl {
          Int(SSL_write(ssl, rest.baseAddress, Int32(clamping: rest.count)))
        } else {
          send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        }
      guard count > 0 else { throw ServerError.closed }
      sent += count
    }
  }

  func write(_ text: String) throws { try Array(text.utf8).withUnsafeBytes { try write($0) } }

  /// The next line without LF. Like the C server, discards the rest of the read: a client that pipelines hangs here
  /// (docs/protocol.md, edge 9).
  func line() throws -> String {
    var line: [UInt8] = []
    var some = [UInt8](repeating: 0, count: 1024)
    while line.count <= 1023 {
      let count = try some.withUnsafeMutableBytes { try read(into: $0) }
      if let end = some[..<count].firstIndex(of: 0x0A) {
        return String(decoding: line + some[..<end], as: UTF8.self)
      }
      line += some[..<count]
    }
    throw ServerError.refused("a line of more than 1023 bytes")
  }

  /// The HTTP request: like the C server, the bytes of one read, at most 1024 (edge 2).
  func request() throws -> String {
    var some = [UInt8](repeating: 0, count: 1024)
    let count = try some.withUnsafeMutableBytes { try read(into: $0) }
    return String(decoding: some[..<count], as: UTF8.self)
  }

  /// Ends the connection with RST.
  func reset() {
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }
}
