import Glibc
import NIOCore
import NIOPosix

/// Why the socket for commands cannot be created.
struct ServiceSocketError: Error, CustomStringConvertible {
  let path: String
  let cause: any Error

  var description: String { "cannot take commands at \(path): \(reason); \(remedy)" }

  /// Whether the path is right and the host lacks something at present.
  var isTransient: Bool {
    code.map([ENOSPC, EDQUOT, EROFS, EIO, EMFILE, ENFILE, ENOMEM, ENOBUFS].contains) ?? false
  }

  /// The value of errno(3); `nil` for errors of SwiftNIO itself.
  private var code: CInt? { (cause as? IOError)?.errnoCode }

  private var reason: String {
    switch cause {
    case SocketAddressError.unixDomainSocketPathTooLong:
      "the path is longer than the 107 bytes that a socket's may have"
    case is UnixDomainSocketPathWrongType: "there is something that is no socket"
    default: code.map { String(cString: strerror($0)) } ?? "\(cause)"
    }
  }

  private var remedy: String {
    switch code {
    case ENOSPC, EDQUOT: "delete some files on its disk"
    case EROFS, EIO: "see the kernel's messages about its disk"
    case EMFILE, ENFILE, ENOMEM, ENOBUFS: "end other programs"
    default: "set agent.socket to another path"
    }
  }
}
