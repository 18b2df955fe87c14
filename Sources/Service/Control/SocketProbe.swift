import Foundation

/// Checks whether a program listens on a unix socket.
enum SocketProbe {
  /// Connects, which the kernel answers at once.
  /// - Returns: Why a request would reach no service; `nil` when a program listens.
  static func obstacle(to path: String) -> ServiceUnreachable.Reason? {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return .absent }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return .absent }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    // EAGAIN: a program listens, and its queue of connections is full.
    if result == 0 || errno == EAGAIN { return nil }
    // This user may not search the path, or not use the socket.
    return errno == EACCES || errno == EPERM ? .refused : .absent
  }
}
