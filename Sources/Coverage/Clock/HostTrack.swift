/// The wall time of the boot by the host's clock, and since when it has been about the same.
struct HostTrack: Hashable, Sendable, Codable {
  /// In microseconds. A clock that is slewed moves by less and counts as the same clock.
  static let sameWithin: Int64 = 60_000_000
  /// The wall time of the boot by the host's clock now.
  var booted: WallTime
  /// The moment since the boot from which on the clock has been the same.
  var since: Duration
  /// The same moment on a clock that stops in suspends, because no other clock can contradict in a suspend; `nil` in a value of an
  /// earlier build.
  var awakeSince: Duration?
  /// The wall time of the boot by the host's clock at ``since``.
  var first: WallTime
}
