/// How far other clocks support the selection. Deletion by age depends on it.
public enum ClockAgreement: Hashable, Sendable {
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

  /// How far other clocks support the selection, for deleting unsubmitted data by age.
  /// - Parameters:
  ///   - boot: The time since the boot.
  ///   - awake: The same without suspends; `nil`: there were none.
  public func agreement(at boot: Duration, awake: Duration? = nil) -> ClockAgreement {
    guard let selection, selection.isTrusted else { return .contradicts }
    let isAgreed =
      selection.reason == .agreement || selection.agreeing.count > 1
      || selection.agreeing.contains { $0 != selection.source }
    if isAgreed { return .agrees }
    let others = comparison(at: boot).others.filter { $0.source != selection.source || selection.isConfirmed }
    if others.contains(where: { $0.booted.gap(to: selection.booted) > Self.ageTolerance }) { return .contradicts }
    if !others.isEmpty { return .agrees }
    guard selection.source == .host, let host, host.booted.gap(to: selection.booted) <= HostTrack.sameWithin,
      (awake ?? boot) - host.awakeSince >= Self.dayOfRunning
    else { return .silent }
    return .agrees
  }
}
