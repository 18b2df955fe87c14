import Coverage

/// All figures of a selection of fences. Fences come first, in the order of the store; then the logs of their drives.
public struct ReportFigures: Sendable {
  /// Coverage by technology.
  public private(set) var shares = CoverageShares()
  /// Where no ping was answered.
  public private(set) var outages = Outages()
  /// The worst stretches.
  public private(set) var stretches = WorstStretches()
  /// How good the data are.
  public private(set) var quality = Quality()
  /// From the drive logs that are there.
  public private(set) var logged = LogFigures()
  /// The sums of all fences.
  public private(set) var sums = PingSums()
  /// The speed tests.
  public private(set) var speedTests = SpeedTestSummary()
  /// The medians of the fences, each as often as it has answered pings: for stores whose logs are deleted.
  public private(set) var medians = DelayCounts()
  /// From the first fence to the last.
  public private(set) var period: ClosedRange<WallTime>?
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

  /// Ends the fences.
  public mutating func endFences() { stretches.end() }

  /// Adds the log of a drive.
  /// - Parameters:
  ///   - drive: Its id; does nothing for a drive without a selected fence.
  ///   - accuracyLimit: The limit of the drive, in metres.
  ///   - events: Calls its argument with each event of the log.
  /// - Throws: Errors of `events`; nothing of the log is counted then.
  public mutating func addLog(
    of drive: Int64, accuracyLimit: Double, events: ((Event) throws -> Void) throws -> Void
  ) throws {
    guard let fences = times[drive] else { return }
    try logged.add(
      fences: fences.sorted { $0.lowerBound < $1.lowerBound }, accuracyLimit: accuracyLimit, events: events)
  }

  /// The delays that percentiles are over: single pings where a log is there, else the medians of the fences.
  public var delays: DelayCounts { isOverSinglePings ? logged.delays : medians }

  /// Whether percentiles are over single pings.
  public var isOverSinglePings: Bool { logged.delays.count > 0 }

  /// The percentiles that a report shows. Those over the medians of fences have no intervals: pings of one fence are not independent.
  public var percentiles: [Percentile] {
    [50, 75, 90, 95, 99].compactMap { percent in
      delays.percentile(percent).map {
        isOverSinglePings
          ? $0 : Percentile(percent: percent, microseconds: $0.microseconds, lower: nil, upper: nil)
      }
    }
  }
}
