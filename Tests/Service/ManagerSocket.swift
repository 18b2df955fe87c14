import Foundation
import Testing

/// The service manager's end of the socket.
final class ManagerSocket {
  private let descriptor: CInt

  /// - Parameter name: A path, or a NUL and an abstract name.
  init(name: [UInt8]) throws {
    descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let size = socklen_t(MemoryLayout.size(ofValue: address.sun_family) + name.count)
    let bound = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    try #require(bound == 0, "\(String(cString: strerror(errno)))")
  }

  deinit { close(descriptor) }

  /// The next datagram; `nil` when there is none.
  func next() -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
