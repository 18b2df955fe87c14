/// The wall time of the boot by the host's clock, and since when it has been about the same.
struct HostTrack: Hashable, Sendable, Codable {
  /// In microseconds. A clock that is slewed moves by less and counts as the same clock.
  static let sameWithin: Int64 = 60_000_000
  /// In microseconds. Smaller differences of the host's clock come from reading two clocks one after the other.
  static let smallestStep: Int64 = 1_000_000
  /// The wall time of the boot by the host's clock now.
  var booted: WallTime
  /// The moment since the boot from which on the clock has been the same.
  var since: Duration
  /// The same moment on a clock that stops in suspends, because no other clock can contradict in a suspend.
  var awakeSince: Duration
  /// The wall time of the boot by the host's clock at ``since``.
  var first: WallTime
  /// The most certain reading of the host's clock while a time service disciplined it; its margin is the largest error that the kernel
  /// stated (adjtimex(2)). `nil` when none did in this boot.
  var disciplined: ClockReading?

  /// Adds the present reading while a time service disciplines the clock.
  mutating func noteDiscipline(_ maximumError: Int64, at boot: Duration) {
    let new = ClockReading(booted: booted, at: boot, margin: maximumError)
    if let known = disciplined, isNear(known, at: boot), known.margin(at: boot) < maximumError { return }
    disciplined = new
  }

  /// Whether the clock shows the time that a time service gave it, to `limit` microseconds. A clock that was set by hand since then does not,
  /// nor one that drifted for hours.
  func isDisciplined(at boot: Duration, within limit: Int64) -> Bool {
    disciplined.map { isNear($0, at: boot) && $0.margin(at: boot) <= limit } ?? false
  }

  private func isNear(_ reading: ClockReading, at boot: Duration) -> Bool {
    booted.gap(to: reading.booted) <= Self.smallestStep.saturatingAdding(reading.margin(at: boot))
  }
}
