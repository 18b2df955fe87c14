import Coverage

/// All figures of a selection, collected step by step: first the fences in the order of the store (``add(_:)``, then
/// ``endFences()``), then the logs of their drives and the speed tests.
public struct ReportFigures: Sendable {
  /// Coverage by technology.
  public private(set) var shares = CoverageShares()
  /// Where no ping was answered.
  public private(set) var outages = Outages()
  /// The worst stretches.
  public private(set) var stretches = WorstStretches()
  /// How good the data are.
  public private(set) var quality = Quality()
  /// Figures of the drive logs that are there.
  public private(set) var logged = LogFigures()
  /// The sums of the pings of all fences.
  private(set) var sums = PingSums()
  /// The speed tests.
  public private(set) var speedTests = SpeedTestSummary()
  /// The medians of the fences, each counted as often as its fence has answered pings: for stores whose logs are deleted.
  private(set) var medians = DelayCounts()
  /// From the entry of the first fence to the exit of the last, in wall time; `nil` without fences.
  public private(set) var period: ClosedRange<WallTime>?
  /// The times of the fences by the id of their drive, by which the pings of its log are selected.
  private var times: [Int64: [Range<DriveTime>]] = [:]

  /// No fences.
  public init() {}

  /// The drives of the fences, by id.
  public var drives: Set<Int64> { Set(times.keys) }

  /// Adds an ended fence; the fences of a session come in order.
  public mutating func add(_ fence: ReportedFence) {
    let metres = shares.add(fence)
    stretches.add(fence, metres: metres)
    outages.add(fence)
    quality.add(fence)
    sums.add(fence.fence)
    if let median = fence.fence.figures.roundTrip?.median {
      medians.add(nanoseconds: median, times: fence.fence.pingsAnswered)
    }
    times[fence.drive, default: []].append(fence.fence.entered..<fence.exited)
    let (from, to) = (fence.driveStarted + fence.fence.entered, fence.driveStarted + fence.exited)
    period = period.map { min($0.lowerBound, from)...max($0.upperBound, to) } ?? from...max(from, to)
  }

  /// Adds an ended speed test.
  public mutating func add(_ test: ReportedSpeedTest) { speedTests.add(test) }

  /// Ends the stretch under way after the last fence; without it, ``stretches`` lacks that stretch.
  public mutating func endFences() { stretches.end() }

  /// Adds the log of a drive.
  /// - Parameters:
  ///   - drive: Its id; does nothing for a drive without a selected fence.
  ///   - parameters: Those of the drive: its accuracy limit, and its interval of pings.
  ///   - initialPath: The kind of link at the drive's start.
  ///   - events: Calls its argument with each event of the log.
  /// - Throws: Errors of `events`; nothing of the log is counted then.
  public mutating func addLog(
    of drive: Int64, parameters: Parameters, initialPath: Path, events: ((Event) throws -> Void) throws -> Void
  ) throws {
    guard let fences = times[drive] else { return }
    try logged.add(
      fences: fences.sorted { $0.lowerBound < $1.lowerBound }, parameters: parameters, initialPath: initialPath,
      events: events)
  }

  /// The delays over which percentiles are computed: single pings if any log has answered ones, else the medians of the
  /// fences.
  public var delays: DelayCounts { isOverSinglePings ? logged.delays : medians }

  /// Whether percentiles are over single pings.
  var isOverSinglePings: Bool { logged.delays.count > 0 }

  /// The percentiles that a report shows. Those over the medians of fences have no intervals: pings of one fence are not
  /// independent.
  var percentiles: [Percentile] {
    [50, 75, 90, 95, 99].compactMap { percent in
      delays.percentile(percent).map {
        isOverSinglePings
          ? $0 : Percentile(percent: percent, microseconds: $0.microseconds, lower: nil, upper: nil)
      }
    }
  }
}
