import CLibssl
import Foundation

/// Accepts TCP connections.
final class Listener: Sendable {
  private let descriptor: Int32
  let port: UInt16

  init(address: String, port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, 4)
    self.port = try SocketAddress.bind(descriptor, to: address, port: port)
    guard Glibc.listen(descriptor, 200) == 0 else { throw ServerError.system(String(cString: strerror(errno))) }
  }

  func accept() -> Int32? {
    while true {
      let peer = Glibc.accept(descriptor, nil, nil)
      if peer >= 0 { return peer }
      // The connection ended before it was accepted, or too many files are open: retry.
      guard [EINTR, ECONNABORTED, EMFILE, ENFILE].contains(errno) else { return nil }
      usleep(10_000)
    }
  }

  /// Accepts a connection; `nil` after `limit` ms.
  func accept(within limit: Int32) -> Int32? {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, limit) > 0 ? accept() : nil
  }

  func close() { Glibc.close(descriptor) }
}
