import CLibssl
import Foundation

/// A TCP connection on a descriptor that does not block.
final class PlainSocket: Transport {
  let descriptor: Int32
  /// Closed once only: the kernel may give the number of the descriptor to another file at once.
  private var isOpen = true

  /// - Parameter descriptor: A TCP socket that does not block, connected or about to be. This object closes it.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    // Lines go out at once: a wait of 40 ms would be in each ping (edge 10).
    Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    // Bytes that the kernel holds unsent are no progress (edge 25): poll announces room only below 128 KiB of them.
    Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, 131_072)
  }

  /// For a slow link: the kernel holds few bytes, else the last chunk waits behind them for many seconds (edge 25). The kernel
  /// doubles the 16 KiB (socket(7)).
  static func limitBacklog(_ descriptor: Int32) { set(descriptor, SOL_SOCKET, SO_SNDBUF, 16_384) }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    // An option that the kernel lacks costs accuracy, not the test.
    _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SpeedTestError) -> Int {
    let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
    if count > 0 { return count }
    if count == 0 { throw .closed }
    return try Self.nothingYet()
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SpeedTestError) -> Int {
    let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    return count >= 0 ? count : try Self.nothingYet()
  }

  /// Reads `errno` after a call that failed.
  /// - Returns: 0 when the call is to be repeated later.
  private static func nothingYet() throws(SpeedTestError) -> Int {
    switch errno {
    case EAGAIN, EINTR: return 0
    case ECONNRESET, EPIPE: throw .closed
    default: throw .unreachable(String(cString: strerror(errno)))
    }
  }

  var hasBuffered: Bool { false }
  var encryption: String? { nil }

  func close() {
    guard isOpen else { return }
    isOpen = false
    if unsent > 0 { discardUnsent() }
    _ = Foundation.close(descriptor)
  }

  /// Closing then resets the connection. Without it, the kernel goes on sending after the test, which costs money and loads the link.
  private func discardUnsent() {
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }

  deinit { close() }
}
