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
