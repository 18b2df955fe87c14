import Coverage

/// The client's side of gpsd's protocol, without the socket: inputs in, effects and the next deadline out. Each connection passes through
/// greeting, watching and streaming; every failure leads to a pause and a new attempt.
struct GPSDConversation {
  /// An event of the socket, or of the clock.
  enum Input {
    case connected
    case connectionFailed(String)
    case bytes([UInt8])
    /// The peer or the network ended the connection; with the text of an error, if there was one.
    case ended(String?)
    /// Time has passed.
    case tick
  }

  /// An action for the caller.
  enum Effect: Hashable {
    case connect
    case send(String)
    case disconnect
    case deliver(PositioningEvent)
    /// Log the status; `leftOut` lines of its kind were omitted since the last one.
    case log(PositioningStatus, leftOut: Int)
  }

  /// Send it in one write: gpsd parses the bytes of one `recv`, and misreads a split command without an error
  /// (docs/protocol.md, 4.2).
  static let watch = "?WATCH={\"enable\":true,\"json\":true};\n"
  /// Tells a silent receiver from a dead connection: gpsd answers it at once.
  static let question = "?DEVICES;\n"

  private enum Phase {
    case pausing(until: ContinuousClock.Instant)
    case connecting
    case greeting(deadline: ContinuousClock.Instant)
    case watching(deadline: ContinuousClock.Instant, attempt: Int)
    case streaming(deadline: ContinuousClock.Instant)
    /// After a time of silence, ``question`` was sent.
    case asking(deadline: ContinuousClock.Instant)
  }

  private let timings: Timings
  /// The values of this attempt: see ``Timings/handshake`` and ``Timings/silence``.
  private var handshake: DoublingWait
  private var silence: DoublingWait
  private var phase = Phase.connecting
  private var pause: DoublingWait
  private var lines = LineSplitter()
  private var earlierOverlongLines = 0
  private var release: String?
  private var filter: FixFilter
  private var journal: StatusJournal
  private var reportedCounters = PositioningCounters()
  private var nextCounters: ContinuousClock.Instant

  init(configuration: GPSDConfiguration, timings: Timings, startingAt start: HostTime) {
    self.timings = timings
    handshake = DoublingWait(first: timings.handshake, greatest: max(timings.longestPatience, timings.handshake))
    silence = DoublingWait(first: timings.silence, greatest: max(timings.longestSilence, timings.silence))
    pause = DoublingWait(
      first: timings.firstRetry, greatest: configuration.isLocal ? timings.longestLocalRetry : timings.longestRetry)
    filter = FixFilter(configuration: configuration, startingAt: start.instant)
    journal = StatusJournal(reminder: timings.reminder)
    nextCounters = start.instant + timings.account
  }

  mutating func start(at now: HostTime) -> [Effect] {
    report(.connecting, at: now) + [.connect]
  }

  /// The time of the next ``Input/tick``, unless another input comes before.
  var nextDeadline: ContinuousClock.Instant {
    let others = [phaseDeadline, filter.nextDeadline].compactMap { $0 }
    return others.reduce(nextCounters, min)
  }

  mutating func step(_ input: Input, at now: HostTime) -> [Effect] {
    var effects = perform(filter.advance(to: now), at: now)
    switch input {
    case .connected: phase = .greeting(deadline: now.instant + timings.greeting)
    case .connectionFailed(let reason): effects += drop(reason, at: now)
    case .bytes(let bytes): effects += handle(bytes, at: now)
    case .ended(let error): effects += drop(reasonOfEnd(error), at: now)
    case .tick: break
    }
    return effects + meetDeadlines(now)
  }

  func finish() -> [Effect] {
    [.deliver(.counters(counters))]
  }

  var counters: PositioningCounters {
    var counters = filter.counters
    counters[.overlongLines] = earlierOverlongLines + lines.overlongLines
    return counters
  }

  // MARK: - Lines

  private mutating func handle(_ bytes: [UInt8], at now: HostTime) -> [Effect] {
    var effects: [Effect] = []
    for line in lines.push(bytes) {
      if case .pausing = phase { break }
      guard let report = GPSDReport(line: line) else {
        filter.counters[.brokenLines] += 1
        continue
      }
      noteSignOfLife(at: now)
      effects += handle(report, at: now)
    }
    return effects
  }

  private mutating func noteSignOfLife(at now: HostTime) {
    switch phase {
    case .streaming, .asking:
      silence.reset()
      phase = .streaming(deadline: now.instant + silence.current)
    case .pausing, .connecting, .greeting, .watching: break
    }
  }

  private mutating func handle(_ report: GPSDReport, at now: HostTime) -> [Effect] {
    filter.counters[.reports] += 1
    var effects = handshake(report, at: now)
    switch report {
    case .other: filter.counters[.otherClasses] += 1
    case .complaint(let message):
      filter.counters[.complaints] += 1
      effects += self.report(.complaint(message), at: now)
    default: effects += perform(filter.apply(report, at: now), at: now)
    }
    return effects
  }

  /// Any report counts as the greeting, because other servers than gpsd do not start with VERSION. The echo of WATCH must be right.
  private mutating func handshake(_ report: GPSDReport, at now: HostTime) -> [Effect] {
    if case .version(let release) = report { self.release = release }
    switch (phase, report) {
    case (.greeting, _): return watch(attempt: 1, at: now)
    case (.watching, .watch(enabled: true, json: true)):
      phase = .streaming(deadline: now.instant + silence.current)
      handshake.reset()
      pause.reset()
      return self.report(.connected(release: release), at: now)
    case (.watching(_, attempt: 1), .watch): return watch(attempt: 2, at: now)
    case (.watching, .watch): return drop("it does not start its stream", at: now)
    default: return []
    }
  }

  private mutating func watch(attempt: Int, at now: HostTime) -> [Effect] {
    phase = .watching(deadline: now.instant + handshake.current, attempt: attempt)
    return [.send(Self.watch)]
  }

  // MARK: - Ends and new attempts

  /// - Parameter hasWaited: Whether seconds have passed without an answer: then the next attempt follows at once.
  private mutating func drop(_ reason: String, at now: HostTime, hasWaited: Bool = false) -> [Effect] {
    phase = .pausing(until: now.instant + (hasWaited ? .zero : pause.next()))
    earlierOverlongLines += lines.overlongLines
    lines = LineSplitter()
    release = nil
    filter.counters[.disconnections] += 1
    return [.disconnect] + report(.disconnected(reason: reason), at: now)
  }

  private func reasonOfEnd(_ error: String?) -> String {
    if let error { return error }
    switch phase {
    case .connecting, .greeting: return "gpsd is full or not ready (it closed the connection without an answer)"
    case .pausing, .watching, .streaming, .asking: return "gpsd closed the connection"
    }
  }

  private var phaseDeadline: ContinuousClock.Instant? {
    switch phase {
    case .connecting: nil
    case .pausing(let until): until
    case .greeting(let deadline), .watching(let deadline, _), .streaming(let deadline), .asking(let deadline): deadline
    }
  }

  private mutating func meetDeadlines(_ now: HostTime) -> [Effect] {
    var effects: [Effect] = []
    if nextCounters <= now.instant {
      effects += reportCounters(at: now)
      effects += journal.overdueLines(at: now.instant).map { .log($0.status, leftOut: $0.leftOut) }
    }
    guard let phaseDeadline, phaseDeadline <= now.instant else { return effects }
    switch phase {
    case .connecting: return effects
    case .pausing:
      phase = .connecting
      return effects + [.connect]
    case .greeting: return effects + drop("no answer in \(timings.greeting.inSeconds) s", at: now, hasWaited: true)
    case .watching:
      let reason = "no answer to WATCH in \(handshake.next().inSeconds) s"
      return effects + drop(reason, at: now, hasWaited: true)
    case .streaming:
      phase = .asking(deadline: now.instant + timings.answer)
      return effects + [.send(Self.question)]
    case .asking:
      let reason =
        "silent for \(silence.next().inSeconds) s, and no answer to a question in \(timings.answer.inSeconds) s"
      return effects + drop(reason, at: now, hasWaited: true)
    }
  }

  private mutating func reportCounters(at now: HostTime) -> [Effect] {
    nextCounters = now.instant + timings.account
    guard counters != reportedCounters else { return [] }
    reportedCounters = counters
    return [.deliver(.counters(counters))]
  }

  // MARK: - Reporting

  private mutating func perform(_ events: [PositioningEvent], at now: HostTime) -> [Effect] {
    events.flatMap { event in
      if case .status(let status) = event { return report(status, at: now) }
      return [.deliver(event)]
    }
  }

  private mutating func report(_ status: PositioningStatus, at now: HostTime) -> [Effect] {
    let verdict = journal.note(status, at: now.instant)
    return (verdict.isNews ? [.deliver(.status(status))] : [])
      + (verdict.logged.map { [.log(status, leftOut: $0)] } ?? [])
  }
}
