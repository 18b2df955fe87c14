import CLibssl
import Foundation

/// A TCP connection on a descriptor that does not block.
final class PlainSocket: Transport {
  let descriptor: Int32
  private var isOpen = true

  /// - Parameter descriptor: A connected one; this object closes it.
  init(descriptor: Int32) {
    self.descriptor = descriptor
    // Lines go out at once: a wait of 40 ms would be in each ping (edge 10).
    Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    // What the kernel takes and has not sent is no progress (edge 25).
    Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, 131_072)
  }

  /// A slow link: little may wait in the kernel, else the last chunk waits behind it for many seconds (edge 25).
  static func limitBacklog(_ descriptor: Int32) { set(descriptor, SOL_SOCKET, SO_SNDBUF, 16_384) }

  /// - Throws: ``SpeedTestError/unreachable(_:)`` when there is no such interface, or the privilege is missing.
  func bind(to interface: String) throws(SpeedTestError) {
    let code = interface.withCString { setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, $0, socklen_t(strlen($0))) }
    guard code == 0 else { throw .unreachable("interface \(interface): \(String(cString: strerror(errno)))") }
  }

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
    if isOpen { _ = Foundation.close(descriptor) }
    isOpen = false
  }

  deinit { close() }
}
