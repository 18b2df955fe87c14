import Foundation

/// The socket on which the service manager (systemd) receives the state of the service: sd_notify(3), without libsystemd.
struct NotifySocket: Sendable {
  /// The path, or a NUL and an abstract name.
  private let name: [UInt8]

  /// - Parameter environment: Names the socket in `NOTIFY_SOCKET`.
  /// - Returns: `nil` without a service manager, or when its socket is no unix socket.
  init?(environment: [String: String]) {
    guard let text = environment["NOTIFY_SOCKET"], text.hasPrefix("/") || text.hasPrefix("@"), text.utf8.count > 1,
      text.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    else { return nil }
    name = text.hasPrefix("@") ? [0] + text.utf8.dropFirst() : Array(text.utf8)
  }

  /// Sends one datagram and does not wait.
  /// - Returns: The value of errno(3) when the manager did not get it.
  func send(_ assignments: [String]) -> CInt? {
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // The length counts: the bytes behind an abstract name would be part of it.
    let size = socklen_t(MemoryLayout.size(ofValue: address.sun_family) + name.count)
    let message = Array(assignments.joined(separator: "\n").utf8)
    let sent = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, message, message.count, CInt(MSG_NOSIGNAL), $0, size)
      }
    }
    return sent == message.count ? nil : errno
  }
}
