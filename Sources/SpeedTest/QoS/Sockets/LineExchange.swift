import CLibssl
import Foundation

/// Lines on a TCP connection of a test: TCP and proxy tests send one and receive one. Middleboxes may send anything: bytes other
/// than UTF-8 are replaced.
struct LineExchange {
  let socket: any Transport
  /// Both functions throw at its deadline.
  let waiting: Waiting

  /// Bytes of a received line; the rest is cut off.
  private static let longest = 4096

  /// - Parameter line: Without its LF.
  func send(_ line: String) throws(SpeedTestError) {
    let bytes = Array((line + "\n").utf8)
    var sent = 0
    while sent < bytes.count {
      sent += try socket.write(bytes, from: sent)
      if sent < bytes.count { _ = try waiting.wait(on: socket.descriptor, for: Int16(POLLOUT), until: .max) }
    }
  }

  /// The first line that arrives, without CR and LF. Bytes before the end of the connection count as one; bytes behind the line
  /// are dropped.
  /// - Throws: ``SpeedTestError/closed`` for an end without a byte.
  func receive() throws(SpeedTestError) -> String {
    var line: [UInt8] = []
    while !line.contains(0x0A), line.count <= Self.longest {
      do throws(SpeedTestError) {
        let bytes = try socket.readSome()
        line += bytes
        if bytes.isEmpty { _ = try waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: .max) }
      } catch .closed where !line.isEmpty {
        break
      }
    }
    let text = line.prefix { $0 != 0x0A }.prefix(Self.longest)
    return String(decoding: text.last == 0x0D ? text.dropLast() : text, as: UTF8.self)
  }
}

/// Listens for the one TCP connection that a QoS server opens to this host. It stops listening when the object goes.
final class LineListener {
  private let descriptor: Int32
  let port: UInt16

  /// - Parameters:
  ///   - address: The local address and port; port 0: any free one.
  ///   - interface: The interface that the connection comes by; `nil`: any.
  /// - Throws: ``SpeedTestError/unreachable(_:)``, for example when the port is in use.
  init(on address: Addresses.Address, interface: String? = nil) throws(SpeedTestError) {
    let descriptor = try address.makeSocket(SOCK_STREAM, interface: interface)
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

  /// The next connection, from whatever address it comes.
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
