import CLibssl
import Foundation

@testable import SpeedTest

/// The server's end of a socket pair that keeps the borders of writes, on its own thread. So a test sees the bytes of each
/// write of the client.
final class ScriptedPeer: @unchecked Sendable {
  let descriptor: Int32
  private let lock = NSLock()
  private var all: [String] = []

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// The client's writes, one by one, without chunks.
  var writes: [String] { lock.withLock { all } }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  /// The client's next write; empty at the end of the connection, or after 20 s of silence.
  func next() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 262_144)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return Array(buffer.prefix(max(count, 0)))
  }

  /// The client's next write as a line, which is added to ``writes``.
  @discardableResult func line() -> String {
    let text = String(decoding: next(), as: UTF8.self)
    lock.withLock { all.append(text) }
    return text
  }

  func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  static let commands = "ACCEPT GETCHUNKS GETTIME PUT PUTNORESULT PING QUIT\n"

  /// Greets, and accepts the token.
  func open() {
    send("RMBTv1.3.5\n")
    send("ACCEPT TOKEN QUIT\n")
    line()
    send("OK\nCHUNKSIZE 4096 4096 4194304\n")
    send(Self.commands)
  }

  /// A connection after its token, and the peer that runs `script` for the rest.
  /// - Parameters:
  ///   - now: The connection's clock.
  ///   - wrap: Makes the transport between the connection and its socket.
  static func connect(
    now: @escaping @Sendable () -> Int64 = { Int64(DispatchTime.now().uptimeNanoseconds) },
    wrap: (PlainSocket) -> any Transport = { $0 }, _ script: @escaping @Sendable (ScriptedPeer) -> Void
  ) throws -> (Connection, ScriptedPeer) {
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
      throw SpeedTestError.unreachable("socketpair")
    }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    let peer = ScriptedPeer(descriptor: ends[1])
    Thread.detachNewThread {
      peer.open()
      script(peer)
    }
    let waiting = Waiting(clock: TestClock(now: now, isAborted: { false }), deadline: now() + 30_000_000_000)
    let connection = Connection(wrap(PlainSocket(descriptor: ends[0])), waiting: waiting)
    try connection.readUntilReady()
    try connection.command(.token(try MeasurementToken("t_1_x")))
    try connection.readUntilReady(isFirst: true)
    return (connection, peer)
  }
}
