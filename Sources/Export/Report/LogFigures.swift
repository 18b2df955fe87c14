import Coverage

/// Figures that only drive logs have: single pings, refused positions and steps of the clock. Stored fences have sums and
/// percentiles only.
struct LogFigures: Sendable {
  /// Delays of single pings that were sent within a selected fence.
  private(set) var delays = ValueCounts()
  /// These pings in their order, with those that were lost.
  private(set) var series = PingSeries()
  /// Absolute differences of the delays of neighbouring pings in one fence.
  private(set) var variations = ValueCounts()
  /// Of ``delays``, those with kernel stamps at both ends.
  private(set) var kernelStamped = 0
  /// The outages, and the most pings in a row without an answer.
  private(set) var outages = Outages()
  private(set) var longestLoss = 0
  /// Pings with an outcome that count in no fence: sent outside of all fences, and while the drive paused on Wi-Fi.
  private(set) var unassigned = (outside: 0, paused: 0)
  private var receivers: [Receiver] = []

  var logs: Int { receivers.count }

  /// Positions and corrections of clocks. The log of each link has those of its drive: several links count once.
  var receiver: Receiver.Counts {
    receivers.drives.reduce(into: Receiver.Counts()) { sum, links in sum.add(links.map(\.counts)) }
  }

  /// What the log of a link says of the receiver and the clock of its drive.
  struct Receiver: LinkOfDrive {
    struct Counts: Hashable {
      /// Positions between the entry of the first selected fence and the exit of the last. Of these: refused for their accuracy, and
      /// losses of the position.
      var (fixes, refused, lost) = (0, 0, 0)
      /// Corrections of the clock, over the whole drive, and their absolute sum in microseconds.
      var (clockSteps, clockStepMicroseconds) = (0, Int64(0))

      /// Adds a drive: of each figure the greatest of its links, one of which may have begun or ended earlier.
      mutating func add(_ links: [Counts]) {
        func greatest<Value: Comparable>(_ figure: (Counts) -> Value, _ none: Value) -> Value {
          links.map(figure).max() ?? none
        }
        fixes += greatest(\.fixes, 0)
        refused += greatest(\.refused, 0)
        lost += greatest(\.lost, 0)
        clockSteps += greatest(\.clockSteps, 0)
        clockStepMicroseconds = clockStepMicroseconds.saturatingAdding(greatest(\.clockStepMicroseconds, 0))
      }

      /// A fix without coordinates is the loss of the position.
      mutating func count(_ fix: Fix, isAccurate: Bool) {
        fixes += 1
        if fix.coordinate == nil {
          lost += 1
        } else if !isAccurate {
          refused += 1
        }
      }

      mutating func count(step: Duration) {
        clockSteps += 1
        clockStepMicroseconds = clockStepMicroseconds.saturatingAdding(step.inMicroseconds.saturatingMagnitude)
      }
    }

    let id: Int64
    let started: WallTime
    let link: String?
    var counts = Counts()
  }

  /// The log of a drive, and which of its fences are selected.
  struct Log {
    let id: Int64
    let fences: SelectedFences
    let started: WallTime
    let link: String?
    /// Those of that drive: its accuracy limit, and its interval of pings.
    let parameters: Parameters
    let initialPath: Path
  }

  /// Adds the log of a drive. Its pings are held while it is read: 24 bytes each.
  /// - Returns: The selected fences that lack pings for a while, each with that time in microseconds.
  mutating func add(
    _ log: Log, events: ((Event) throws -> Void) throws -> Void
  ) throws -> [(fence: Fence, unmeasured: Int64)] {
    // A log that cannot be read to its end counts nothing: figures of half a drive would pass for those of the drive.
    var counted = self
    var logged = LoggedPings(parameters: log.parameters, initialPath: log.initialPath)
    var receiver = Receiver(id: log.id, started: log.started, link: log.link)
    try events { event in
      logged.handle(event)
      switch event.kind {
      case .fix(let fix) where log.fences.span.contains(event.at):
        receiver.counts.count(fix, isAccurate: log.parameters.accepts(fix))
      case .clockSet(let step): receiver.counts.count(step: step)
      default: break
      }
    }
    logged.end()
    counted.receivers.append(receiver)
    let selected = logged.fences.map(log.fences.contains)
    counted.count(logged.pings, in: selected, reach: DelayVariation.reach(interval: log.parameters.pingInterval))
    counted.findOutages(logged, selected, log)
    self = counted
    return Self.unmeasured(logged, selected, interval: log.parameters.pingInterval)
  }

  /// - Parameter reach: The greatest distance of neighbours, in microseconds.
  private mutating func count(_ pings: [LoggedPings.Ping], in selected: [Bool], reach: Int64) {
    var last: LoggedPings.Ping?
    for ping in pings {
      guard let fence = ping.fence, selected[fence] else { continue }
      series.add(nanoseconds: ping.nanoseconds)
      if let delay = ping.nanoseconds {
        delays.add(nanoseconds: delay)
        if ping.isKernelStamped { kernelStamped += 1 }
        if let last, last.fence == fence, let former = last.nanoseconds,
          ping.at.microseconds - last.at.microseconds <= reach, let variation = DelayVariation.between(former, delay)
        {
          variations.add(nanoseconds: variation)
        }
      }
      last = ping
    }
  }

  /// A ping outside of all fences goes with the last fence before it, or with the first one of the drive: so a selection of fences
  /// cuts the whole drive into selected parts and others.
  private mutating func findOutages(_ logged: LoggedPings, _ selected: [Bool], _ log: Log) {
    var (next, finder) = (0, PingOutages(started: log.started, link: log.link, interval: log.parameters.pingInterval))
    for ping in logged.pings {
      while next < logged.fences.count, logged.fences[next].entered < ping.at { next += 1 }
      let fence = ping.fence ?? max(0, next - 1)
      guard fence < selected.count, selected[fence] else {
        finder.end()
        continue
      }
      if ping.isPaused {
        unassigned.paused += 1
        finder.end()
        continue
      }
      if ping.fence == nil { unassigned.outside += 1 }
      finder.add(ping, at: next > 0 ? logged.fences[fence].centre : nil)
    }
    finder.end()
    outages.add(finder.outages)
    longestLoss = max(longestLoss, finder.longestRun)
  }

  /// The time of a fence without its own pings counts as not measured when it is longer than a second and three intervals.
  private static func unmeasured(
    _ logged: LoggedPings, _ selected: [Bool], interval: Duration
  ) -> [(fence: Fence, unmeasured: Int64)] {
    let limit = max(1_000_000, interval.inMicroseconds.saturatingMultiplied(by: 3))
    var last = logged.fences.map(\.entered)
    var missing = [Int64](repeating: 0, count: last.count)
    func pass(_ fence: Int, at time: DriveTime) {
      let gap = (time - last[fence]).inMicroseconds
      if gap > limit { missing[fence] = missing[fence].saturatingAdding(gap) }
      last[fence] = max(last[fence], time)
    }
    for ping in logged.pings { if let fence = ping.fence { pass(fence, at: ping.at) } }
    return logged.fences.enumerated().compactMap { index, fence in
      pass(index, at: fence.exited ?? fence.entered)
      guard selected[index], Reception(fence).isMeasured, missing[index] > 0 else { return nil }
      return (fence, missing[index])
    }
  }
}

/// The selected fences of a drive, by their times.
struct SelectedFences: Sendable {
  /// The times of the fences; those that touch are one range.
  private var ranges: [Range<DriveTime>] = []
  /// The centres of fences without a duration, by the time of their entry, which is also that of the next fence.
  private var instants: [DriveTime: [Coordinate]] = [:]
  /// From the first entry to the last exit.
  private(set) var span = DriveTime.start...DriveTime.start

  mutating func add(_ fence: Fence, until exited: DriveTime) {
    let isFirst = ranges.isEmpty && instants.isEmpty
    span = isFirst ? fence.entered...exited : min(span.lowerBound, fence.entered)...max(span.upperBound, exited)
    if fence.entered == exited {
      instants[exited, default: []].append(fence.centre)
    } else if let last = ranges.last, last.upperBound == fence.entered {
      ranges[ranges.count - 1] = last.lowerBound..<exited
    } else {
      ranges.append(fence.entered..<exited)
    }
  }

  /// Must precede ``contains(_:)``: sessions can be added in any order.
  mutating func sort() { ranges.sort { $0.lowerBound < $1.lowerBound } }

  /// Whether a replayed fence is one of these.
  func contains(_ fence: Fence) -> Bool {
    if instants[fence.entered]?.contains(fence.centre) == true { return true }
    let next = ranges.partitionPoint { $0.lowerBound <= fence.entered }
    return next > 0 && fence.exited != fence.entered && ranges[next - 1].contains(fence.entered)
  }
}

/// Finds the outages of a link in its single pings, in the order of sending.
struct PingOutages {
  /// The outages that have ended.
  private(set) var outages = Outages()
  /// The most pings in a row without an answer, whether they are an outage or not.
  private(set) var longestRun = 0
  private let started: WallTime
  private let link: String?
  /// The time from ping to ping, in microseconds.
  private let interval: Int64
  private var current: (outage: Outages.Outage, first: DriveTime, last: DriveTime)?

  init(started: WallTime, link: String? = nil, interval: Duration) {
    (self.started, self.link, self.interval) = (started, link, interval.inMicroseconds)
  }

  /// - Parameter place: The centre of the present fence, or of the last one.
  mutating func add(_ ping: LoggedPings.Ping, at place: Coordinate?) {
    if ping.nanoseconds != nil { return end() }
    let pause = max(Outages.longestPause, interval.saturatingMultiplied(by: 3))
    if let current, (ping.at - current.last).inMicroseconds > pause { end() }
    var run =
      current
      ?? (
        Outages.Outage(began: started + ping.at, place: place, link: link, microseconds: 0, pings: 0),
        first: ping.at, last: ping.at
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
