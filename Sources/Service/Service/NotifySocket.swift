/// The socket on which the service manager (systemd) receives the state of the service: sd_notify(3), without libsystemd.
struct NotifySocket: Sendable {
  /// The path, or a NUL and an abstract name.
  private let name: [UInt8]

  /// - Parameter environment: Names the socket in `NOTIFY_SOCKET`.
  /// - Returns: `nil` without a service manager, or when its socket is no unix socket.
  init?(environment: [String: String]) {
    guard let text = environment["NOTIFY_SOCKET"], text.hasPrefix("/") || text.hasPrefix("@"), text.utf8.count > 1,
      text.utf8.count <= UnixDatagram.longestName
    else { return nil }
    name = text.hasPrefix("@") ? [0] + text.utf8.dropFirst() : Array(text.utf8)
  }

  /// Sends one datagram and does not wait.
  /// - Returns: The value of errno(3) when the manager did not get it.
  func send(_ assignments: [String]) -> CInt? {
    UnixDatagram.send(Array(assignments.joined(separator: "\n").utf8), to: name)
  }
}
