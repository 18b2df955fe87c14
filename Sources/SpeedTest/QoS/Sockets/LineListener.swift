import CLibssl
import Foundation

/// Listens for the one TCP connection that a QoS server opens to us.
final class LineListener {
  private let descriptor: Int32
  let port: UInt16

  /// - Parameter address: Where to listen; port 0: any free one.
  init(on address: Addresses.Address) throws(SpeedTestError) {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(address.family, type, 0)
    guard descriptor >= 0 else { throw .unreachable(String(cString: strerror(errno))) }
    self.descriptor = descriptor
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    guard address.call({ Glibc.bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 4) == 0,
      let bound = Addresses.Address.filled(by: { getsockname(descriptor, $0, $1) })
    else {
      let reason = String(cString: strerror(errno))
      Glibc.close(descriptor)
      throw .unreachable(reason)
    }
    port = bound.port
  }

  /// The next connection.
  func accept(_ waiting: Waiting) throws(SpeedTestError) -> PlainSocket {
    while true {
      _ = try waiting.wait(on: descriptor, for: Int16(POLLIN), until: .max)
      let peer = Glibc.accept(descriptor, nil, nil)
      if peer >= 0 {
        _ = fcntl(peer, F_SETFL, O_NONBLOCK)
        _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
        return PlainSocket(descriptor: peer)
      }
      // A connection that ended before it was accepted; the next one may be good.
      guard [EINTR, EAGAIN, ECONNABORTED].contains(errno) else {
        throw .unreachable(String(cString: strerror(errno)))
      }
    }
  }

  deinit { close(descriptor) }
}
