import Glibc

/// Writes to a descriptor that may be a pipe, and may be non-blocking.
public enum DescriptorOutput {
  /// Writes all of `bytes`, waiting while a non-blocking descriptor is full.
  /// - Returns: Whether all bytes were written; if not, `errno` has the reason.
  public static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if written >= 0 {
          rest = rest.dropFirst(written)
        } else if errno == EAGAIN {
          var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          guard poll(&ready, 1, -1) >= 0 || errno == EINTR else { return false }
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }
}

/// Datagrams to sockets of the host.
public enum UnixDatagram {
  /// The longest name of a socket.
  static let longestName = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// Sends one datagram and does not wait.
  /// - Parameter name: The path of the socket, or NUL and an abstract name.
  /// - Returns: The value of errno(3) when the receiver did not get it.
  public static func send(_ bytes: [UInt8], to name: [UInt8]) -> CInt? {
    guard name.count <= longestName else { return ENAMETOOLONG }
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    let sent = call(name) { sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL), $0, $1) }
    return sent == bytes.count ? nil : errno
  }

  /// Calls a function of sockets with the address of a unix socket.
  /// - Parameter name: Of at most ``longestName`` bytes.
  static func call(_ name: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int) -> Int {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    // The length counts: the bytes behind an abstract name would be part of it.
    let size = socklen_t(MemoryLayout.size(ofValue: address.sun_family) + name.count)
    return withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }
}
