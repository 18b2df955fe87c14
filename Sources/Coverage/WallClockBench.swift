extension WallClock {
  /// The clocks that are known at one moment, and what they come to.
  struct Bench {
    /// One clock.
    struct Voice {
      let source: Source
      let booted: WallTime
      let margin: Int64

      func agrees(with other: WallTime, margin otherMargin: Int64 = 0) -> Bool {
        gap(booted, other) <= tolerance.saturatingAdding(margin).saturatingAdding(otherMargin)
      }
    }

    private let clock: WallClock
    private let boot: Duration
    private let host: Voice?
    private let server: Voice?
    private let receivers: [(voice: Voice, track: ReceiverTrack)]
    private var voices: [Voice] { [host, server].compactMap { $0 } + receivers.map(\.voice) }
    var witnesses: [Voice] { voices.filter { $0.source != .host } }

    init(_ clock: WallClock, at boot: Duration) {
      self.clock = clock
      self.boot = boot
      host = clock.host.flatMap {
        plausible.contains($0.booted.adding(boot)) ? Voice(source: .host, booted: $0.booted, margin: 0) : nil
      }
      server = clock.server.map { Voice(source: .server, booted: $0.booted, margin: $0.margin(at: boot)) }
      // The one that spoke last first.
      receivers = clock.receivers.sorted { ($0.value.latest, $0.key) > ($1.value.latest, $1.key) }
        .compactMap { _, track in
          track.reading.map {
            (Voice(source: .gnss, booted: $0.booted, margin: $0.margin(at: boot)), track)
          }
        }
    }

    /// The ruling, with the clocks that agree with it and those that contradict it.
    var ruling: Ruling {
      var ruling = decided
      let agreeing = voices.filter { $0.agrees(with: ruling.booted) }
      ruling.agreeing = Set(agreeing.map(\.source)).sorted()
      ruling.contradicting = Set(voices.filter { !$0.agrees(with: ruling.booted) }.map(\.source)).sorted()
      return ruling
    }

    private var decided: Ruling {
      if let members = majority { return ruling(of: members) }
      guard let host else { return withoutHost }
      let alone = Ruling(booted: host.booted, source: .host, reason: .alone, isConfirmed: false)
      guard let last = incumbent else { return witnesses.isEmpty ? alone : rewritten(alone, .disagreement) }
      guard !witnesses.isEmpty else { return moved(last, to: host.booted, .host, .alone, by: smallestStep) }
      if let kept = beforeStep(last) { return kept }
      if gap(last.booted, host.booted) < smallestStep { return steadyReceiver(against: last) ?? stay(last) }
      return stay(last, .contradictedStep)
    }

    /// The last ruling, if it was one.
    private var incumbent: Ruling? { clock.ruling.flatMap { $0.isTrusted ? $0 : nil } }

    // MARK: Two that agree

    /// The greatest group of clocks that agree with one of them; `nil` when no two do, or when two groups are as great as each other
    /// and the last ruling is with neither.
    private var majority: [Voice]? {
      let groups = voices.map { center in
        voices.filter { $0.agrees(with: center.booted, margin: center.margin) }
      }
      guard let greatest = groups.map(\.count).max(), greatest >= 2 else { return nil }
      let candidates = groups.filter { $0.count == greatest }
      if let last = incumbent, let same = candidates.first(where: { $0.contains { $0.agrees(with: last.booted) } }) {
        return same
      }
      let isUnique = candidates.allSatisfy { group in
        group.allSatisfy { member in
          candidates[0].contains { $0.agrees(with: member.booted, margin: member.margin) }
        }
      }
      return isUnique ? candidates[0] : nil
    }

    private func ruling(of members: [Voice]) -> Ruling {
      let ofHost = members.first { $0.source == .host }
      if let gnss = members.first(where: { $0.source == .gnss }) {
        // The host's clock has no delay of a serial line: where they agree, its figure is the finer one.
        let isFine = ofHost.map { gap($0.booted, gnss.booted) <= tolerance } ?? false
        let booted = isFine ? ofHost?.booted ?? gnss.booted : gnss.booted
        // A receiver may be late by seconds: alone with the server it moves no confirmed ruling that one of them agrees with.
        if !isFine, let last = incumbent, last.isConfirmed,
          let witness = ([gnss] + members).first(where: { $0.agrees(with: last.booted) })
        {
          return confirmed(last.booted, witness.source, by: smallestCorrection)
        }
        return confirmed(booted, .gnss, by: smallestCorrection)
      }
      if let ofHost { return confirmed(ofHost.booted, .host, by: smallestStep) }
      return confirmed(members[0].booted, members[0].source, by: smallestCorrection)
    }

    private func confirmed(_ booted: WallTime, _ source: Source, by step: Int64) -> Ruling {
      let new = Ruling(booted: booted, source: source, reason: .agreement, isConfirmed: true)
      guard let last = incumbent else { return new }
      var moved = moved(last, to: booted, source, .agreement, by: step)
      moved.isConfirmed = true
      return moved
    }

    // MARK: None that agree

    /// The host's clock cannot be right.
    private var withoutHost: Ruling {
      if let last = incumbent {
        let isAgreed = witnesses.contains { $0.agrees(with: last.booted) }
        return stay(last, witnesses.isEmpty || isAgreed ? .hostNotSet : .disagreement)
      }
      if let witness = receivers.first?.voice ?? server, witnesses.allSatisfy({ $0.agrees(with: witness.booted) }) {
        return Ruling(booted: witness.booted, source: witness.source, reason: .hostNotSet, isConfirmed: false)
      }
      let booted = clock.host?.booted ?? WallTime(microseconds: 0)
      var untrusted = Ruling(booted: booted, source: .host, reason: .hostNotSet, isConfirmed: false)
      untrusted.isTrusted = false
      return untrusted
    }

    /// A clock agrees with the time before the host's was set: with the last ruling, or with a former time of the host's.
    private func beforeStep(_ last: Ruling) -> Ruling? {
      if let witness = witnesses.first(where: { $0.agrees(with: last.booted) }) {
        // A clock does not confirm its own word.
        let isItsOwn = !last.isConfirmed && last.source == witness.source
        var kept = stay(last, isItsOwn && last.reason == .steady ? .steady : .contradictedStep)
        (kept.source, kept.isConfirmed) = (witness.source, !isItsOwn)
        return kept
      }
      guard witnesses.count == 1 else { return nil }
      let former = clock.former.first { time in
        plausible.contains(time.adding(boot)) && witnesses[0].agrees(with: time)
      }
      return former.map {
        Ruling(booted: $0, source: witnesses[0].source, reason: .contradictedStep, isConfirmed: true)
      }
    }

    /// The only witness is a receiver whose time is steady, and only the host's unconfirmed clock says something else. Up to the leap
    /// seconds, which a receiver learns within 12.5 minutes, the receiver takes longer to convince.
    private func steadyReceiver(against last: Ruling) -> Ruling? {
      guard !last.isConfirmed, server == nil, receivers.count == 1, let (voice, track) = receivers.first else {
        return nil
      }
      let isLeapSeconds = gap(voice.booted, last.booted) <= 20_000_000
      let needed: Duration = isLeapSeconds ? .seconds(900) : .seconds(60)
      guard track.lasted >= needed * (1 + 10 * track.jumps) else { return nil }
      return Ruling(booted: voice.booted, source: .gnss, reason: .steady, isConfirmed: false)
    }

    private func stay(_ last: Ruling, _ reason: Reason = .disagreement) -> Ruling { rewritten(last, reason) }

    private func rewritten(_ ruling: Ruling, _ reason: Reason) -> Ruling {
      var ruling = ruling
      ruling.reason = reason
      return ruling
    }

    /// The last ruling, moved if it is off by `step` or more.
    private func moved(
      _ last: Ruling, to booted: WallTime, _ source: Source, _ reason: Reason, by step: Int64
    ) -> Ruling {
      let isFar = gap(last.booted, booted) >= step
      return Ruling(
        booted: isFar ? booted : last.booted, source: source, reason: reason, isConfirmed: !isFar && last.isConfirmed)
    }
  }
}
