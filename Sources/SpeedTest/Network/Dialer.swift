import CLibssl
import Foundation

/// Opens TCP connections, and TLS upon them, within the limits of a test.
struct Dialer: Sendable {
  let waiting: Waiting
  /// The address that connections come from; `nil`: the kernel's choice.
  var source: Addresses.Address?
  /// The interface that connections leave by; `nil`: any.
  var interface: String?
  /// ns until the attempt at one address is given up.
  var patience: Int64 = 10_000_000_000

  /// A connection to the first address that accepts one; addresses are tried one after the other.
  /// - Throws: ``SpeedTestError/aborted`` at once; else the error of the last address.
  func connect(_ addresses: Addresses) throws(SpeedTestError) -> PlainSocket {
    var failure = SpeedTestError.closed
    for address in addresses.list {
      do {
        return try connect(address)
      } catch .aborted {
        throw .aborted
      } catch {
        failure = error
      }
    }
    throw failure
  }

  /// A connection to one address.
  /// - Throws: ``SpeedTestError/timeout(_:)`` after `patience`, ``SpeedTestError/closed`` for a fresh connection that the server
  ///   has ended already, ``SpeedTestError/unreachable(_:)`` for everything else.
  func connect(_ address: Addresses.Address) throws(SpeedTestError) -> PlainSocket {
    let descriptor = try address.makeSocket(SOCK_STREAM, interface: interface)
    let socket = PlainSocket(descriptor: descriptor)
    if let source, source.with(port: 0).call({ Glibc.bind(descriptor, $0, $1) }) != 0 {
      throw .unreachable(String(cString: strerror(errno)))
    }
    if address.call({ Glibc.connect(descriptor, $0, $1) }) == 0 { return socket }
    guard errno == EINPROGRESS else { throw .unreachable(String(cString: strerror(errno))) }
    try finish(socket)
    return socket
  }

  /// Waits until the connection stands, and reads how the attempt ended.
  private func finish(_ socket: PlainSocket) throws(SpeedTestError) {
    guard try waiting.wait(on: socket.descriptor, for: Int16(POLLOUT), until: waiting.clock.now() + patience) else {
      throw .timeout("connecting")
    }
    var failure: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(socket.descriptor, SOL_SOCKET, SO_ERROR, &failure, &size)
    switch failure {
    case 0: return
    // The server accepted, and ended the fresh connection before this program looked at it (docs/protocol.md, edge 5). A refusal is
    // ECONNREFUSED.
    case ECONNRESET, EPIPE: throw .closed
    default: throw .unreachable(String(cString: strerror(failure)))
    }
  }

  /// TLS upon a connection; the whole handshake has 30 s.
  /// - Parameter host: The name or address for SNI and for the certificate.
  /// - Throws: ``SpeedTestError/noTLS``, ``SpeedTestError/tls(_:)``, ``SpeedTestError/untrusted(_:)``, ``SpeedTestError/closed`` or
  ///   ``SpeedTestError/timeout(_:)``.
  func secure(_ socket: PlainSocket, context: TLSContext, host: String) throws(SpeedTestError) -> TLSSocket {
    let secure = try TLSSocket(socket, context: context, host: host)
    let limit = waiting.clock.now() + TimeLimits.read
    while let events = try secure.handshake() {
      guard try waiting.wait(on: socket.descriptor, for: events, until: limit) else {
        throw .timeout("the TLS handshake")
      }
    }
    return secure
  }
}
