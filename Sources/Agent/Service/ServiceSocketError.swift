import Glibc
import NIOCore
import NIOPosix

/// Why the socket for commands cannot be created.
struct ServiceSocketError: Error, CustomStringConvertible {
  let path: String
  let cause: any Error

  var description: String { "cannot take commands at \(path): \(reason); set agent.socket to another path" }

  private var reason: String {
    switch cause {
    case SocketAddressError.unixDomainSocketPathTooLong:
      "the path is longer than the 107 bytes that a socket's may have"
    case is UnixDomainSocketPathWrongType: "there is something that is no socket"
    case let error as IOError: String(cString: strerror(error.errnoCode))
    default: "\(cause)"
    }
  }
}
