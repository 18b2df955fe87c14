/// Compares the clocks that are known at one moment, and selects one for the wall time.
struct ClockComparison {
  /// One clock at this moment.
  struct Clock {
    let source: ClockSelection.Source
    /// The wall time of the boot by this clock.
    let booted: WallTime
    /// Its uncertainty in microseconds.
    let margin: Int64

    /// Whether the margins explain the difference of the two.
    func agrees(with other: Clock) -> Bool {
      booted.gap(to: other.booted)
        <= ClockComparison.tolerance.saturatingAdding(margin).saturatingAdding(other.margin)
    }
  }

  /// In microseconds: two clocks agree when they differ by no more than this and their own margins.
  private static let tolerance: Int64 = 1_500_000
  /// In microseconds. Smaller differences of other clocks come from delays on the way.
  private static let smallestCorrection: Int64 = 1_500_000

  private let boot: Duration
  private let hostBooted: WallTime?
  private let former: [WallTime]
  /// The last selection; `nil` when there was none or it was not trusted.
  private let incumbent: ClockSelection?
  private let host: Clock?
  private let isHostDisciplined: Bool
  private let server: Clock?
  private let receivers: [(clock: Clock, track: ReceiverTrack)]
  private var clocks: [Clock] { [host, server].compactMap { $0 } + receivers.map(\.clock) }
  /// All clocks but the host's.
  var others: [Clock] { clocks.filter { $0.source != .host } }

  /// - Parameters:
  ///   - former: The wall times of the boot by the host's clock before it was set.
  ///   - incumbent: The last selection.
  ///   - boot: The time since the boot.
  init(
    host: HostTrack?, server: ClockReading?, receivers: [String: ReceiverTrack], former: [WallTime],
    incumbent: ClockSelection?, at boot: Duration
  ) {
    self.boot = boot
    self.former = former
    self.incumbent = incumbent.flatMap { $0.isTrusted ? $0 : nil }
    hostBooted = host?.booted
    self.host = host.flatMap {
      WallTime.plausible.contains($0.booted.adding(boot)) ? Clock(source: .host, booted: $0.booted, margin: 0) : nil
    }
    isHostDisciplined = host?.isDisciplined(at: boot, within: Self.tolerance) ?? false
    self.server = server.map { Clock(source: .server, booted: $0.booted, margin: $0.margin(at: boot)) }
    // The latest reading first.
    self.receivers = receivers.sorted { ($0.value.latest, $0.key) > ($1.value.latest, $1.key) }
      .compactMap { _, track in
        track.reading.map {
          (Clock(source: .gnss, booted: $0.booted, margin: $0.margin(at: boot)), track)
        }
      }
  }

  /// The selection, with the clocks that agree with it and those that contradict it.
  var selection: ClockSelection {
    var selection = decided
    let time = clock(of: selection)
    selection.agreeing = Set(clocks.filter { $0.agrees(with: time) }.map(\.source)).sorted()
    selection.contradicting = Set(clocks.filter { !$0.agrees(with: time) }.map(\.source)).sorted()
    return selection
  }

  /// A selection as a clock, as uncertain as the reading that it comes from.
  private func clock(of selection: ClockSelection) -> Clock {
    let origins = clocks.filter { $0.source == selection.source }
    return Clock(source: selection.source, booted: selection.booted, margin: origins.map(\.margin).min() ?? 0)
  }

  private var decided: ClockSelection {
    if let members = majority { return selection(of: members) }
    guard let host else { return withoutHost }
    let alone = ClockSelection(booted: host.booted, source: .host, reason: .alone, isConfirmed: false)
    guard let last = incumbent else { return others.isEmpty ? alone : rewritten(alone, .disagreement) }
    guard !others.isEmpty else { return moved(last, to: host.booted, .host, .alone, by: HostTrack.smallestStep) }
    if let kept = beforeStep(last) { return kept }
    if last.booted.gap(to: host.booted) < HostTrack.smallestStep { return steadyReceiver(against: last) ?? stay(last) }
    return stay(last, .contradictedStep)
  }

  // MARK: Two clocks agree

  /// The largest group of clocks that agree with one of them. `nil` when no two clocks agree, or when several groups are equally large and
  /// none of them agrees with the last selection.
  private var majority: [Clock]? {
    let groups = clocks.map { center in
      clocks.filter { $0.agrees(with: center) }
    }
    guard let count = groups.map(\.count).max(), count >= 2 else { return nil }
    let largest = groups.filter { $0.count == count }
    if let last = incumbent.map(clock(of:)), let same = largest.first(where: { $0.contains { $0.agrees(with: last) } })
    {
      return same
    }
    let isUnique = largest.allSatisfy { group in
      group.allSatisfy { member in largest[0].contains { $0.agrees(with: member) } }
    }
    return isUnique ? largest[0] : nil
  }

  private func selection(of members: [Clock]) -> ClockSelection {
    let ofHost = members.first { $0.source == .host }
    if let gnss = members.first(where: { $0.source == .gnss }) {
      let isFine = ofHost.map { isHostDisciplined || $0.booted.gap(to: gnss.booted) <= Self.tolerance } ?? false
      let isServerDeciding = ofHost != nil && members.contains { $0.source == .server }
      // A receiver can be late by seconds: if one of receiver and server agrees with a confirmed selection, the two do not move it.
      if !isFine, !isServerDeciding, let last = incumbent, last.isConfirmed,
        let other = ([gnss] + members).first(where: { $0.agrees(with: clock(of: last)) })
      {
        return confirmed(last.booted, other.source, by: Self.smallestCorrection)
      }
      guard let ofHost, isFine || isReceiverLate(gnss, against: ofHost, members) else {
        return confirmed(gnss.booted, .gnss, by: Self.smallestCorrection)
      }
      // The host's clock has no delay of a serial line: where the two agree, its time is the more precise one.
      return confirmed(ofHost.booted, .gnss, by: isHostDisciplined ? HostTrack.smallestStep : Self.smallestCorrection)
    }
    if let ofHost { return confirmed(ofHost.booted, .host, by: HostTrack.smallestStep) }
    return confirmed(members[0].booted, members[0].source, by: Self.smallestCorrection)
  }

  /// Whether a receiver and a host's clock that agree, but not closely, differ because the receiver's time arrives late. A serial line
  /// delays a time and never advances it, so a host that is behind the receiver is wrong. Where the server's time is known, it decides, unless it is
  /// nearer to one of the two by no more than its date was cut by.
  private func isReceiverLate(_ gnss: Clock, against host: Clock, _ members: [Clock]) -> Bool {
    if let server = members.first(where: { $0.source == .server }) {
      let nearer = server.booted.gap(to: gnss.booted) - server.booted.gap(to: host.booted)
      if abs(nearer) > 500_000 { return nearer > 0 }
    }
    return host.booted > gnss.booted
  }

  private func confirmed(_ booted: WallTime, _ source: ClockSelection.Source, by step: Int64) -> ClockSelection {
    let new = ClockSelection(booted: booted, source: source, reason: .agreement, isConfirmed: true)
    guard let last = incumbent else { return new }
    var moved = moved(last, to: booted, source, .agreement, by: step)
    moved.isConfirmed = true
    return moved
  }

  // MARK: No two clocks agree

  /// The selection while the host's clock shows an impossible time.
  private var withoutHost: ClockSelection {
    if let last = incumbent {
      let isAgreed = others.contains { $0.agrees(with: clock(of: last)) }
      return stay(last, others.isEmpty || isAgreed ? .hostNotSet : .disagreement)
    }
    if let other = receivers.first?.clock ?? server, others.allSatisfy({ $0.agrees(with: other) }) {
      return ClockSelection(booted: other.booted, source: other.source, reason: .hostNotSet, isConfirmed: false)
    }
    let booted = hostBooted ?? WallTime(microseconds: 0)
    var untrusted = ClockSelection(booted: booted, source: .host, reason: .hostNotSet, isConfirmed: false)
    untrusted.isTrusted = false
    return untrusted
  }

  /// The selection when a clock agrees with the time before the host's clock was set: with the last selection, or with a former time of the
  /// host's clock. `nil` when none does.
  private func beforeStep(_ last: ClockSelection) -> ClockSelection? {
    if let other = others.first(where: { $0.agrees(with: clock(of: last)) }) {
      // A clock does not confirm a selection that comes from itself alone.
      let isItsOwn = !last.isConfirmed && last.source == other.source
      var kept = stay(last, isItsOwn && last.reason == .steady ? .steady : .contradictedStep)
      (kept.source, kept.isConfirmed) = (other.source, !isItsOwn)
      return kept
    }
    guard others.count == 1 else { return nil }
    let matching = former.first { time in
      WallTime.plausible.contains(time.adding(boot))
        && others[0].agrees(with: Clock(source: .host, booted: time, margin: 0))
    }
    return matching.map {
      ClockSelection(booted: $0, source: others[0].source, reason: .contradictedStep, isConfirmed: true)
    }
  }

  /// The selection of a receiver whose time is steady, when it is the only other clock and the last selection is the host's, which neither
  /// another clock nor a time service confirms. A
  /// difference as small as the leap seconds must last longer: a receiver learns their number within 12.5 minutes. `nil` before that.
  private func steadyReceiver(against last: ClockSelection) -> ClockSelection? {
    guard !last.isConfirmed, !isHostDisciplined, server == nil, receivers.count == 1,
      let (clock, track) = receivers.first
    else {
      return nil
    }
    let isLeapSeconds = clock.booted.gap(to: last.booted) <= 20_000_000
    let needed: Duration = isLeapSeconds ? .seconds(900) : .seconds(60)
    guard track.lasted >= needed * (1 + 10 * track.jumps) else { return nil }
    return ClockSelection(booted: clock.booted, source: .gnss, reason: .steady, isConfirmed: false)
  }

  private func stay(_ last: ClockSelection, _ reason: ClockSelection.Reason = .disagreement) -> ClockSelection {
    rewritten(last, reason)
  }

  private func rewritten(_ selection: ClockSelection, _ reason: ClockSelection.Reason) -> ClockSelection {
    var selection = selection
    selection.reason = reason
    return selection
  }

  /// The last selection, moved if it is off by `step` or more.
  private func moved(
    _ last: ClockSelection, to booted: WallTime, _ source: ClockSelection.Source, _ reason: ClockSelection.Reason,
    by step: Int64
  ) -> ClockSelection {
    let isFar = last.booted.gap(to: booted) >= step
    return ClockSelection(
      booted: isFar ? booted : last.booted, source: source, reason: reason, isConfirmed: !isFar && last.isConfirmed)
  }
}
