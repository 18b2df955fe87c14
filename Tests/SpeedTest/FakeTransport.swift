import Foundation

@testable import SpeedTest

/// A stream without a socket. The test sets the bytes of each read and the limit of each write.
final class FakeTransport: Transport {
  /// The next reads. Reads after them have no bytes.
  var reads: [[UInt8]]
  /// The byte that fills the reads after `reads`, for far longer than any test needs.
  var endless: UInt8?
  private var rest = 1000
  /// The maximum of bytes that a write accepts.
  var takes = Int.max
  /// Called before each read and write.
  var step: () -> Void = {}
  private(set) var written: [[UInt8]] = []
  private(set) var isClosed = false
  /// Writable at any time, and readable until ``becomeSilent()``.
  private let pair: SocketPair

  init(_ reads: [[UInt8]] = []) throws {
    self.reads = reads
    pair = try SocketPair()
    pair.send([0])
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SpeedTestError) -> Int {
    step()
    if reads.isEmpty, let endless {
      rest -= 1
      guard rest > 0 else { throw .closed }
      buffer.initializeMemory(as: UInt8.self, repeating: endless)
      return buffer.count
    }
    guard !reads.isEmpty else { return 0 }
    let bytes = reads.removeFirst()
    buffer.copyBytes(from: bytes)
    return bytes.count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SpeedTestError) -> Int {
    step()
    let taken = min(bytes.count, takes)
    written.append(Array(bytes.prefix(taken)))
    return taken
  }

  /// From now on, poll reports no bytes.
  func becomeSilent() {
    var byte: UInt8 = 0
    _ = recv(pair.ours, &byte, 1, 0)
  }

  var hasBuffered: Bool { false }
  var descriptor: Int32 { pair.ours }
  var encryption: String? { nil }
  func close() { isClosed = true }
}
