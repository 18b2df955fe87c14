import Coverage

/// Which pings were sent under the load of a speed test, and the delays with and without it. A pure value.
struct LoadedPings: Hashable, Sendable {
  /// The load counts as gone this long after a test's end: the queue of a slow link still holds its last bytes. A queue that lasts longer delays
  /// the request for the pings' next test, too.
  static let settling = Duration.seconds(1)
  /// How long before a test its pings count as those without load.
  static let idlePeriod = Duration.seconds(10)
  /// Round trips of one part: those of an hour at 100 a second are enough for any test.
  private static let most = 360_000

  private struct Window: Hashable {
    let part: SpeedTestDelay.Part?
    let begin: DriveTime
  }

  private struct Outcome: Hashable {
    let at: DriveTime
    /// `nil` for a lost ping.
    let roundTrip: Int64?
  }

  /// The parts since the start of the test, in order; empty without a test.
  private var windows: [Window] = []
  private var end: DriveTime?
  /// When the load of the last test is gone.
  private var settled = DriveTime.start
  private var recent: [Outcome] = []
  private var outcomes: [SpeedTestDelay.Part: [Outcome]] = [:]

  /// Whether a test is running.
  var isTesting: Bool { !windows.isEmpty && end == nil }

  /// Whether the link has the load of a test, or its rest.
  func isLoaded(at now: DriveTime) -> Bool { isTesting || now < settled }

  /// A test begins.
  /// - Returns: Whether none was running.
  mutating func begin(at now: DriveTime) -> Bool {
    guard !isTesting else { return false }
    (windows, end) = ([Window(part: nil, begin: now)], nil)
    outcomes = [.idle: recent.filter { now - $0.at <= Self.idlePeriod && $0.at < now }]
    return true
  }

  /// The test enters a part with load, or leaves it. A part that it enters again begins there: before it was the pre-test.
  mutating func enter(_ part: SpeedTestDelay.Part?, at now: DriveTime) {
    guard isTesting, windows.last?.part != part else { return }
    windows.append(Window(part: part, begin: now))
  }

  /// The test has ended: pings that are sent from now on have no load.
  /// - Returns: Whether one was running.
  mutating func finish(at now: DriveTime) -> Bool {
    guard isTesting else { return false }
    (end, settled) = (now, now + Self.settling)
    return true
  }

  /// Counts a ping.
  /// - Parameter at: When it was sent.
  /// - Returns: The load that it was sent under; `nil` for none.
  mutating func count(_ outcome: PingOutcome, at time: DriveTime) -> SpeedTestDelay.Part? {
    if case .unsent = outcome { return nil }
    let roundTrip: Int64? = if case .answered(let rtt, _) = outcome { rtt } else { nil }
    let entry = Outcome(at: time, roundTrip: roundTrip)
    let part = part(at: time)
    if let part {
      if outcomes[part, default: []].count < Self.most { outcomes[part, default: []].append(entry) }
    } else if windows.isEmpty || end.map({ time >= $0 }) == true {
      recent.append(entry)
      // Rarely, as the array moves.
      if let first = recent.first, time - first.at > Self.idlePeriod * 2 {
        recent.removeAll { time - $0.at > Self.idlePeriod }
      }
    } else if let first = windows.first, time < first.begin {
      // Sent just before the test, and answered during it.
      outcomes[.idle, default: []].append(entry)
    }
    return part
  }

  private func part(at time: DriveTime) -> SpeedTestDelay.Part? {
    if let end, time >= end { return nil }
    return windows.last { $0.begin <= time }?.part
  }

  /// The figures of the test that has ended; forgets it.
  mutating func drain() -> [SpeedTestDelay] {
    defer { (windows, end, outcomes) = ([], nil, [:]) }
    return SpeedTestDelay.Part.allCases.compactMap { part in
      let begin = windows.last { $0.part == part }?.begin
      let pings = outcomes[part, default: []].filter { ping in begin.map { ping.at >= $0 } ?? true }
      guard !pings.isEmpty else { return nil }
      let answered = pings.compactMap(\.roundTrip)
      return SpeedTestDelay(part, roundTrips: answered, lost: pings.count - answered.count)
    }
  }
}
