import CLibssl
import Foundation

@testable import SpeedTest

/// A TCP server on loopback whose connections run a script, each on a thread.
final class ScriptedServer: Sendable {
  /// A client's connection.
  final class Client: @unchecked Sendable {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(descriptor: Int32) {
      self.descriptor = descriptor
      var limit = timeval(tv_sec: 20, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
      let bytes = Array(text.utf8)
      _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// The text up to `mark`, without it; empty at the end of the connection, or after 20 s of silence.
    func text(to mark: String = "\n") -> String {
      let mark = Array(mark.utf8)
      while true {
        if let end = buffer.indices.first(where: { buffer[$0...].starts(with: mark) }) {
          defer { buffer.removeFirst(end + mark.count) }
          return String(decoding: buffer[..<end], as: UTF8.self)
        }
        var some = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &some, some.count, 0)
        guard count > 0 else { return "" }
        buffer += some[..<count]
      }
    }

    /// The number of the next command; empty without one.
    func id() -> String {
      let parts = text().components(separatedBy: " +ID")
      return parts.count == 2 ? parts[1] : ""
    }

    /// Opens as a QoS server does.
    func openQoS() {
      send("QoSSP0.1\nACCEPT [TOKEN string]\n")
      _ = text()
      send("OK\nACCEPT [TCPTEST|UDPTEST]\n")
    }
  }

  let port: UInt16
  private let descriptor: Int32

  init(_ script: @escaping @Sendable (Client) -> Void) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard LoopbackPort.address(0).call({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 16) == 0,
      let bound = Addresses.Address.filled(by: { getsockname(descriptor, $0, $1) })
    else { throw POSIXError(.EADDRNOTAVAIL) }
    (self.descriptor, port) = (descriptor, bound.port)
    Thread.detachNewThread {
      while true {
        let peer = accept(descriptor, nil, nil)
        guard peer >= 0 else { return }
        Thread.detachNewThread { script(Client(descriptor: peer)) }
      }
    }
  }

  deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// A control connection to this server.
  func connect() throws -> QTPConnection {
    let waiting = LoopbackPort.waiting()
    let socket = try Dialer(waiting: waiting).connect(LoopbackPort.address(port))
    return try QTPConnection(socket, token: try MeasurementToken("u_1_x"), waiting: waiting)
  }
}
