import Foundation

/// Datagrams to sockets of the host.
public enum UnixDatagram {
  /// The longest name of a socket.
  static let longestName = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// Sends one datagram and does not wait.
  /// - Parameters:
  ///   - bytes: The datagram.
  ///   - name: The path of the socket, or NUL and an abstract name.
  /// - Returns: The value of errno(3) when the receiver did not get it.
  public static func send(_ bytes: [UInt8], to name: [UInt8]) -> CInt? {
    guard name.count <= longestName else { return ENAMETOOLONG }
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // The length counts: the bytes behind an abstract name would be part of it.
    let size = socklen_t(MemoryLayout.size(ofValue: address.sun_family) + name.count)
    let sent = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL), $0, size)
      }
    }
    return sent == bytes.count ? nil : errno
  }
}
