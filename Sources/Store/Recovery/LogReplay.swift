import Coverage

/// Cuts a drive log into fences again, and decides which of them are certainly the measured ones.
///
/// Replay makes the same fences from the same events. Where the log may be damaged, the fence at that place and all
/// following fences are left out, until a fence begins where the store has one too: from there on the engine has the
/// same state as during the drive.
struct LogReplay {
  private(set) var engine: Engine
  private(set) var drive: LoggedDrive
  /// The number of ended fences in the log, certain or not.
  private(set) var endedFences: Int

  /// - Parameters:
  ///   - path: The path of the log.
  ///   - known: The drive's fences in the store, if it is known which drive the log belongs to.
  ///   - base: The start of the drive, for the times of `known`.
  init(_ recorded: RecordedDrive, path: String, known: [FenceMark] = [], base: WallTime = WallTime(microseconds: 0)) {
    engine = Engine(parameters: recorded.header.engineParameters, path: recorded.header.initialPath)
    var certainty = Certainty(isTrusted: recorded.isHeaderSealed, known: known, base: base)
    var unsealed = recorded.unsealed[...]
    var started = recorded.header.started
    for (index, event) in recorded.events.enumerated() {
      while let next = unsealed.first, next.upperBound <= index { unsealed.removeFirst() }
      if unsealed.first?.contains(index) == true { certainty.lose(engine) }
      let isInTail = recorded.unsealedTail?.contains(index) == true
      if isInTail { certainty.loseOpenFence(engine) }
      if case .clockSet(let step) = event.kind { started = started + DriveTime(step) }
      let effects = engine.handle(event)
      if isInTail { certainty.lose(effects) }
      certainty.follow(engine)
    }
    // When the log was cut, a ping of the last fence may still have had no outcome.
    let settled = DriveTime.start + ((engine.now - .start) - (recorded.header.pings?.timeout ?? .seconds(1)))
    var tail = recorded.unsealedTail
    if certainty.isTrusted, engine.stopped != nil {
      // Behind a sealed end there are notes only: a line that is cut off or damaged there is no event.
      unsealed = unsealed.prefix { $0.lowerBound < recorded.events.count }
      if tail?.isEmpty == true { tail = nil }
    }
    // The end of the log may be missing: a drive without a stop is ended by the store's rules.
    let isStopCertain = tail == nil && unsealed.isEmpty && certainty.isTrusted
    let ended = engine.fences.filter { $0.exited != nil && !recorded.forgotten.contains($0.session) }
    if tail != nil { certainty.lose(ended.filter { $0.exited.map { $0 > settled } ?? true }) }
    endedFences = ended.count
    drive = LoggedDrive(
      log: path, started: started, link: recorded.header.link, target: recorded.header.target,
      sessions: engine.sessions.filter { !recorded.forgotten.contains($0.number) },
      fences: ended.compactMap { certainty.certain($0) }, accepted: recorded.accepted,
      stopped: isStopCertain ? engine.stopped : nil)
  }

  /// Leaves out the fences that the server does not have, as far as the log knows; not those that were never meant for it.
  mutating func dropUnsent() {
    guard drive.target == nil else { return }
    let sent = Set(drive.accepted.flatMap(\.fences))
    drive.fences.removeAll { !sent.contains($0.number) }
    endedFences = drive.fences.count
  }

  /// Decides which fences are certain.
  private struct Certainty {
    var isTrusted: Bool
    private var isCertain: [Bool] = []
    /// How far the store's numbers are ahead of the replay's, since both last agreed.
    private var shift: [Int] = []
    private let known: [Key: Int]

    private struct Key: Hashable {
      let place: Coordinate
      let entered: DriveTime
    }

    init(isTrusted: Bool, known: [FenceMark], base: WallTime) {
      self.isTrusted = isTrusted
      self.known = Dictionary(known.map { (Key(place: $0.place, entered: $0.entered.since(base)), $0.number) }) {
        first, _ in first
      }
    }

    /// The following events may differ from the measured ones.
    mutating func lose(_ engine: Engine) {
      isTrusted = false
      // Late pings may belong to the fences before.
      for index in max(0, engine.fences.count - 2)..<engine.fences.count { isCertain[index] = false }
    }

    /// After a kill: sealed events stay certain; the open fence continues with events that no seal covers.
    mutating func loseOpenFence(_ engine: Engine) {
      isTrusted = false
      if let open = engine.openFence, open.number < isCertain.count { isCertain[open.number] = false }
    }

    mutating func lose(_ effects: [Effect]) {
      for case .fenceRevised(let fence) in effects { lose([fence]) }
    }

    mutating func lose(_ fences: [Fence]) {
      for fence in fences where fence.number < isCertain.count { isCertain[fence.number] = false }
    }

    mutating func follow(_ engine: Engine) {
      while isCertain.count < engine.fences.count {
        let fence = engine.fences[isCertain.count]
        var ahead = shift.last ?? 0
        if !isTrusted, let number = known[Key(place: fence.centre, entered: fence.entered)] {
          isTrusted = true
          ahead = number.saturatingSubtracting(fence.number)
        }
        isCertain.append(isTrusted)
        shift.append(ahead)
      }
    }

    func certain(_ fence: Fence) -> Fence? {
      guard isCertain[fence.number] else { return nil }
      let number = fence.number.saturatingAdding(shift[fence.number])
      return number == fence.number ? fence : number >= 0 ? fence.renumbered(number) : nil
    }
  }
}

extension Fence {
  fileprivate func renumbered(_ number: Int) -> Fence {
    Fence(
      number: number, session: session, entered: entered, exited: exited, fix: fix, centre: centre, radius: radius,
      technology: technology, pings: pings, pingsAnswered: pingsAnswered, rttSumNanoseconds: rttSumNanoseconds,
      figures: figures, radio: radio, isSubmittable: isSubmittable)
  }
}
