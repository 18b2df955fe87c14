import CLibssl
import Foundation

/// The server's end of one connection, plain or with TLS. Its calls block, for 5 minutes at most.
final class ServerStream {
  private let descriptor: Int32
  private let ssl: OpaquePointer?
  private var buffered: [UInt8] = []

  /// - Parameter tls: OpenSSL's configuration of the server.
  /// - Returns: `nil` when the client did not finish the handshake.
  init?(_ descriptor: Int32, tls: OpaquePointer?) {
    self.descriptor = descriptor
    var limit = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    ssl = tls.flatMap { SSL_new($0) }
    guard let ssl else { return }
    SSL_set_fd(ssl, descriptor)
    guard SSL_accept(ssl) == 1 else { return nil }
  }

  /// The name that the client sent in SNI.
  var serverName: String? {
    ssl.flatMap { SSL_get_servername($0, TLSEXT_NAMETYPE_host_name) }.map { String(cString: $0) }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { all -> Int in
        let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
        if let ssl { return Int(SSL_write(ssl, rest.baseAddress, Int32(rest.count))) }
        return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// The received bytes, `most` at the most; empty at the end of the connection.
  func bytes(most: Int = 65_536) -> [UInt8] {
    if !buffered.isEmpty {
      defer { buffered = Array(buffered.dropFirst(most)) }
      return Array(buffered.prefix(most))
    }
    var buffer = [UInt8](repeating: 0, count: most)
    let count = ssl.map { Int(SSL_read($0, &buffer, Int32(most))) } ?? recv(descriptor, &buffer, most, 0)
    return Array(buffer.prefix(max(count, 0)))
  }

  /// The next bytes up to and without `end`; `nil` at the end of the connection.
  func text(until end: String = "\n") -> String? {
    let mark = Array(end.utf8)
    var text: [UInt8] = []
    while !text.suffix(mark.count).elementsEqual(mark) {
      guard let next = bytes(most: 1).first else { return nil }
      text.append(next)
    }
    return String(decoding: text.dropLast(mark.count), as: UTF8.self)
  }

  /// Closes with a reset instead of an end.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
  }

  /// Ends its half of the connection, and waits until the client has read all of it and closes.
  func end() {
    shutdown(descriptor, Int32(SHUT_WR))
    while !bytes().isEmpty {}
  }

  deinit {
    // Without close_notify, as most servers end.
    if let ssl { SSL_free(ssl) }
    close(descriptor)
  }
}
