/// What is known of the clock by which things become too old to be kept.
public enum ClockWitness: Hashable, Sendable {
  /// Another clock agrees, or the same clock has run for a day.
  case agrees
  /// No other clock is known.
  case silent
  /// Another clock says something else: the age of things is unknown.
  case contradicts
}

extension WallClock {
  /// Ages are counted in days: clocks that are closer together agree on them.
  static let ageTolerance: Int64 = 86_400_000_000
  /// A host's clock that was not set for so long of running time is its own witness.
  static let dayOfRunning = Duration.seconds(86_400)

  /// Whether the ruling is good enough to delete by age what no server has.
  /// - Parameter boot: The time since the boot.
  public func witness(at boot: Duration) -> ClockWitness {
    guard let ruling, ruling.isTrusted else { return .contradicts }
    let isAgreed =
      ruling.reason == .agreement || ruling.agreeing.count > 1 || ruling.agreeing.contains { $0 != ruling.source }
    if isAgreed { return .agrees }
    let witnesses = Bench(self, at: boot).witnesses.filter { $0.source != ruling.source || ruling.isConfirmed }
    if witnesses.contains(where: { gap($0.booted, ruling.booted) > Self.ageTolerance }) { return .contradicts }
    if !witnesses.isEmpty { return .agrees }
    guard ruling.source == .host, let host, gap(host.booted, ruling.booted) <= HostTrack.sameWithin,
      boot - host.since >= Self.dayOfRunning
    else { return .silent }
    return .agrees
  }
}
