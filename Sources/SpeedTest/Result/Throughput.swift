import Coverage

/// The result of a phase: the bytes of all threads at the end that they have in common (docs/protocol.md, 7.6). The common end is the
/// earliest last point of any thread: until then, all threads were measured.
public struct Throughput: Hashable, Sendable {
  /// The common end in ns since the start of the phase; above 0.
  public let nanoseconds: Int64
  /// The bytes of all threads until then.
  public let bytes: Int64

  /// kbit/s of 1000 bit, rounded: the unit of `test_speed_*`.
  public var kilobitsPerSecond: Int64 {
    Int64(saturating: (8e6 * Double(bytes) / Double(nanoseconds)).rounded()) ?? 0
  }

  /// - Parameter threads: The curves of the threads that took part in the phase to its end, and of no others (edge 29). A thread
  ///   without a point adds nothing, and does not set the end (edge 28).
  /// - Returns: `nil` when no thread has a point.
  public init?(threads: [[Sample]]) {
    let ends = threads.compactMap { $0.last?.nanoseconds }.filter { $0 > 0 }
    guard let end = ends.min() else { return nil }
    nanoseconds = end
    let sum = threads.reduce(0.0) { $0 + Self.bytes(of: $1, at: end) }
    // Far beyond any link; a larger sum would not fit into 64 bits.
    bytes = Int64(min(sum.rounded(), 1e18))
  }

  /// The bytes of one thread at the common end: linear between the first point at or after `end` and the one before it; each
  /// curve begins at (0, 0).
  private static func bytes(of samples: [Sample], at end: Int64) -> Double {
    guard let index = samples.firstIndex(where: { $0.nanoseconds >= end }) else { return 0 }
    let after = samples[index]
    let before = index > 0 ? samples[index - 1] : Sample(nanoseconds: 0, bytes: 0)
    // Above 0: `before` is earlier than `end`.
    let span = Double(after.nanoseconds) - Double(before.nanoseconds)
    let part = (Double(end) - Double(before.nanoseconds)) / span
    return Double(before.bytes) + part * (Double(after.bytes) - Double(before.bytes))
  }
}
