/// How far other clocks support the ruling. Deletion by age depends on it.
public enum ClockWitness: Hashable, Sendable {
  /// Another clock agrees, or the host's clock has not been set for a day of running time.
  case agrees
  /// No other clock is known, and the host's clock was set within the last day of running time.
  case silent
  /// Another clock contradicts by more than a day, or no known clock is right: ages are unknown.
  case contradicts
}

extension WallClock {
  /// In microseconds. Ages are counted in days, so clocks that differ by less agree on them.
  static let ageTolerance: Int64 = 86_400_000_000
  /// A host's clock that was not set for this running time needs no other clock.
  static let dayOfRunning = Duration.seconds(86_400)

  /// How far other clocks support the ruling, for deleting unsubmitted data by age.
  /// - Parameters:
  ///   - boot: The time since the boot.
  ///   - awake: The same without suspends; `nil`: there were none.
  public func witness(at boot: Duration, awake: Duration? = nil) -> ClockWitness {
    guard let ruling, ruling.isTrusted else { return .contradicts }
    let isAgreed =
      ruling.reason == .agreement || ruling.agreeing.count > 1 || ruling.agreeing.contains { $0 != ruling.source }
    if isAgreed { return .agrees }
    let witnesses = comparison(at: boot).witnesses.filter { $0.source != ruling.source || ruling.isConfirmed }
    if witnesses.contains(where: { $0.booted.gap(to: ruling.booted) > Self.ageTolerance }) { return .contradicts }
    if !witnesses.isEmpty { return .agrees }
    guard ruling.source == .host, let host, host.booted.gap(to: ruling.booted) <= HostTrack.sameWithin,
      (awake ?? boot) - host.awakeSince >= Self.dayOfRunning
    else { return .silent }
    return .agrees
  }
}
