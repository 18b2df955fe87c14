/// Decides from which clock the wall times of a drive come: GNSS, the control server or the host.
///
/// Each clock is reduced to one figure: the wall time of the host's boot by that clock, which is its reading less CLOCK_BOOTTIME. The
/// figure is constant while the clock runs at the pace of CLOCK_BOOTTIME; a change of it is a step of that clock.
///
/// The rules, in this order (docs/clock.md):
/// 1. Two clocks that agree rule.
/// 2. A step of the host's clock is followed when no other clock contradicts it.
/// 3. The selection never moves to a time that two of three clocks contradict.
///
/// A pure value that reads no clock. All arithmetic on readings saturates. Its coded form is stored and read by later builds.
public struct WallClock: Hashable, Sendable, Codable {
  private static let formerLimit = 8
  private static let receiverLimit = 8

  /// The selection by the last ``select(host:at:)``.
  public private(set) var selection: ClockSelection?
  var host: HostTrack?
  /// The wall times of the boot by the host's clock before it was set, the latest first.
  var former: [WallTime] = []
  /// The most certain reading of the control server's clock.
  var server: ClockReading?
  /// By gpsd's path of the receiver; the key is empty for a receiver without a path.
  var receivers: [String: ReceiverTrack] = [:]

  /// A wall clock without readings and without a selection.
  public init() {}

  /// Whether the control server's time is known in this boot.
  public var knowsServer: Bool { server != nil }

  /// The wall time by the control server's clock; `nil` when it is not known.
  public func serverTime(at boot: Duration) -> WallTime? { server?.booted.adding(boot) }

  // MARK: Readings

  /// Adds a reading of a receiver's clock. A time outside of ``WallTime/plausible`` is ignored.
  /// - Parameters:
  ///   - time: The time of a report with a fix. The time of a report without a fix is not reliable: do not pass it.
  ///   - receiver: gpsd's path of the receiver.
  ///   - boot: When the report arrived, since the boot.
  public mutating func note(gnss time: WallTime, receiver: String?, at boot: Duration) {
    guard WallTime.plausible.contains(time) else { return }
    let name = receiver ?? ""
    let booted = time.adding(.zero - boot)
    if receivers[name] == nil, receivers.count >= Self.receiverLimit,
      let oldest = receivers.min(by: { $0.value.latest < $1.value.latest })
    {
      receivers[oldest.key] = nil
    }
    receivers[name, default: ReceiverTrack()].append(booted, at: boot)
  }

  /// Adds a reading of the control server's clock: the `Date` of an answer. A date outside of ``WallTime/plausible`` is ignored.
  /// - Parameters:
  ///   - date: In whole seconds, cut off.
  ///   - boot: When the answer arrived, since the boot.
  ///   - roundTrip: From the start of the request to the answer; one of an hour or more is ignored.
  public mutating func note(server date: WallTime, at boot: Duration, roundTrip: Duration) {
    guard WallTime.plausible.contains(date), roundTrip >= .zero, roundTrip < .seconds(3600) else { return }
    let half = roundTrip / 2
    let new = ClockReading(
      booted: date.adding(.milliseconds(500) + half - boot), at: boot, margin: half.inMicroseconds + 1_000_000)
    // Keep an earlier reading that is more certain, unless the two contradict each other.
    if let server, server.booted.gap(to: new.booted) <= server.margin(at: boot).saturatingAdding(new.margin),
      server.margin(at: boot) < new.margin
    {
      return
    }
    server = new
  }

  /// Adds the wall times of the boot by which stored drives were dated: the host's clock may have shown one of them before it was set.
  public mutating func note(formerBoots times: [WallTime]) {
    for time in times where WallTime.plausible.contains(time) && former.count < Self.formerLimit {
      let known = former + [host?.booted, selection?.booted].compactMap { $0 }
      if known.allSatisfy({ $0.gap(to: time) >= HostTrack.smallestStep }) { former.append(time) }
    }
  }

  /// Adds a reading of the host's clock and decides by all readings.
  /// - Parameters:
  ///   - wall: The host's wall clock; `nil` when it could not be read together with CLOCK_BOOTTIME.
  ///   - boot: The time since the boot.
  ///   - awake: The same without suspends; `nil`: there were none.
  ///   - maximumError: The largest error of the host's clock by the kernel, which a time service states; `nil` without such a service.
  @discardableResult
  public mutating func select(
    host wall: WallTime?, at boot: Duration, awake: Duration? = nil, maximumError: Duration? = nil
  ) -> ClockSelection {
    if let wall { noteHost(wall.adding(.zero - boot), at: boot, awake: awake ?? boot) }
    if wall != nil, let maximumError { host?.noteDiscipline(max(0, maximumError.inMicroseconds), at: boot) }
    let new = comparison(at: boot).selection
    selection = new
    return new
  }

  /// The readings of all clocks, drifted to `boot`.
  func comparison(at boot: Duration) -> ClockComparison {
    ClockComparison(
      host: host, server: server, receivers: receivers, former: former, incumbent: selection, at: boot)
  }

  /// Whether an earlier process of the same boot can have stored this value; `false` for a value that is damaged or of another boot.
  public func isPossible(at boot: Duration) -> Bool {
    let moments =
      [host?.since, host?.awakeSince, host?.disciplined?.at, server?.at].compactMap { $0 }
      + receivers.values.flatMap(\.moments)
    let margins = [server?.margin, host?.disciplined?.margin].compactMap { $0 }
    return moments.allSatisfy { $0 >= .zero && $0 <= boot }
      && margins.allSatisfy { (0...3_600_000_000).contains($0) }
      && receivers.values.allSatisfy { (0...ReceiverTrack.mostJumps).contains($0.jumps) }
      && former.count <= Self.formerLimit && receivers.count <= Self.receiverLimit
  }

  /// Whether a process that starts in this boot would decide the same by `other` as by this value; if not, store this value.
  public func isEquivalent(to other: WallClock) -> Bool {
    func isSame(_ left: WallTime?, _ right: WallTime?) -> Bool {
      guard let left, let right else { return left == nil && right == nil }
      return left.gap(to: right) < HostTrack.smallestStep
    }
    let names = Set(receivers.keys).union(other.receivers.keys)
    return selection?.booted == other.selection?.booted && selection?.source == other.selection?.source
      && selection?.isConfirmed == other.selection?.isConfirmed && former == other.former
      && isSame(host?.booted, other.host?.booted) && host?.since == other.host?.since
      && host?.awakeSince == other.host?.awakeSince
      && isSame(host?.disciplined?.booted, other.host?.disciplined?.booted)
      && isSame(server?.booted, other.server?.booted)
      && names.allSatisfy { isSame(receivers[$0]?.reading?.booted, other.receivers[$0]?.reading?.booted) }
  }

  private mutating func noteHost(_ booted: WallTime, at boot: Duration, awake: Duration) {
    guard var track = host else {
      host = HostTrack(booted: booted, since: boot, awakeSince: awake, first: booted)
      return
    }
    if track.booted.gap(to: booted) >= HostTrack.smallestStep {
      former.removeAll { time in
        [booted, track.booted].contains { time.gap(to: $0) < HostTrack.smallestStep }
      }
      former.insert(track.booted, at: 0)
      former = Array(former.prefix(Self.formerLimit))
    }
    track.booted = booted
    if track.first.gap(to: booted) > HostTrack.sameWithin {
      (track.first, track.since, track.awakeSince) = (booted, boot, awake)
    }
    host = track
  }
}

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
