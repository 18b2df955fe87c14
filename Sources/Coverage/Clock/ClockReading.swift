/// A reading of the control server's or a receiver's clock.
struct ClockReading: Hashable, Sendable, Codable {
  /// Microseconds by which two clocks can drift apart in a second.
  private static let driftPerSecond: Int64 = 100

  /// The wall time of the boot by this clock.
  var booted: WallTime
  /// The moment of the reading, since the boot.
  var at: Duration
  /// The uncertainty of the reading, in microseconds.
  var margin: Int64

  /// The uncertainty of the reading at `boot`: it grows with the drift since ``at``.
  func margin(at boot: Duration) -> Int64 { margin.saturatingAdding(Self.drift(from: at, to: boot)) }

  /// Microseconds by which two clocks can drift apart from one moment to another.
  static func drift(from: Duration, to: Duration) -> Int64 {
    max(0, (to - from).components.seconds).saturatingMultiplied(by: driftPerSecond)
  }
}
