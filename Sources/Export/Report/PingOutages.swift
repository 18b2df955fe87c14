import Coverage

/// Finds the outages of a link in its single pings, in the order of sending.
struct PingOutages {
  /// The outages that have ended.
  private(set) var outages = Outages()
  /// The most pings in a row without an answer, whether they are an outage or not.
  private(set) var longestRun = 0
  private let started: WallTime
  /// The time from ping to ping, in microseconds.
  private let interval: Int64
  private var current: (outage: Outages.Outage, first: DriveTime, last: DriveTime)?

  /// - Parameters:
  ///   - started: The start of the drive.
  ///   - interval: The interval of its pings.
  init(started: WallTime, interval: Duration) { (self.started, self.interval) = (started, interval.inMicroseconds) }

  /// - Parameter place: The centre of the present fence, or of the last one.
  mutating func add(_ ping: LoggedPings.Ping, at place: Coordinate?) {
    if ping.nanoseconds != nil { return end() }
    if let current, (ping.at - current.last).inMicroseconds > Outages.longestPause { end() }
    var run =
      current
      ?? (
        Outages.Outage(began: started + ping.at, place: place, microseconds: 0, pings: 0), first: ping.at, last: ping.at
      )
    run.last = ping.at
    run.outage.pings = run.outage.pings.saturatingAdding(1)
    run.outage.microseconds = (run.last - run.first).inMicroseconds.saturatingAdding(interval)
    longestRun = max(longestRun, run.outage.pings)
    current = run
  }

  /// Nothing was measured, an answer came, or the log ends.
  mutating func end() {
    if let current { outages.add(current.outage) }
    current = nil
  }
}
