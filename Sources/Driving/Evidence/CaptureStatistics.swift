/// The counters of a capture file, which show whether packets are missing in it.
public struct CaptureStatistics: Hashable, Sendable {
  /// Packets that passed the filter.
  var accepted: UInt64 = 0
  /// Packets that were written to the file.
  public var delivered: UInt64 = 0
  /// Packets that the kernel or the interface dropped.
  var dropped: UInt64 = 0

  /// Packets that are missing in the file.
  public var missing: UInt64 {
    let unwritten = accepted > delivered ? accepted - delivered : 0
    return max(unwritten, dropped)
  }

  /// The sum over two interfaces.
  static func + (left: Self, right: Self) -> Self {
    Self(
      accepted: left.accepted &+ right.accepted, delivered: left.delivered &+ right.delivered,
      dropped: left.dropped &+ right.dropped)
  }
}
