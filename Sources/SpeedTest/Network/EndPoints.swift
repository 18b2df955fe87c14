import CLibssl
import Foundation

/// The addresses of a connected socket, as numbers.
struct EndPoints: Hashable, Sendable {
  /// The address of this device.
  let local: String
  /// The address of the server.
  let remote: String

  /// `nil` when the kernel gives none, as for a connection that has ended meanwhile.
  init?(of descriptor: Int32) {
    guard let local = Self.text(descriptor, getsockname), let remote = Self.text(descriptor, getpeername) else {
      return nil
    }
    (self.local, self.remote) = (local, remote)
  }

  /// `getsockname` or `getpeername`.
  private typealias Question = (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32

  private static func text(_ descriptor: Int32, _ ask: Question) -> String? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let code = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard ask(descriptor, address, &size) == 0 else { return Int32(-1) }
        return getnameinfo(address, size, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST)
      }
    }
    guard code == 0 else { return nil }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
