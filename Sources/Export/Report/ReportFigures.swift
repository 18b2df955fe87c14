import Coverage

/// All figures of a selection, collected step by step: first the fences in the order of the store (``add(_:)``, then
/// ``endFences()``), then the logs of their drives and the speed tests.
public struct ReportFigures: Sendable {
  /// Coverage by technology.
  public private(set) var shares = CoverageShares()
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
  private var starts: [Int64: WallTime] = [:]
  /// The outages of drives whose logs are not there, by the id of the drive.
  private var fenceOutages: [Int64: FenceOutages] = [:]

  /// No fences.
  public init() {}

  /// The drives of the fences, by id.
  public var drives: Set<Int64> { Set(times.keys) }

  /// Adds an ended fence; the fences of a session come in order.
  public mutating func add(_ fence: ReportedFence) {
    let metres = shares.add(fence)
    stretches.add(fence, metres: metres)
    fenceOutages[fence.drive, default: FenceOutages()].add(fence)
    quality.add(fence)
    sums.add(fence.fence)
    if let median = fence.fence.figures.roundTrip?.median {
      medians.add(nanoseconds: median, times: fence.fence.pingsAnswered)
    }
    times[fence.drive, default: []].append(fence.fence.entered..<fence.exited)
    starts[fence.drive] = fence.driveStarted
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
    guard let fences = times[drive], let started = starts[drive] else { return }
    let log = LogFigures.Log(
      fences: fences.sorted { $0.lowerBound < $1.lowerBound }, started: started, parameters: parameters,
      initialPath: initialPath)
    for (fence, unmeasured) in try logged.add(log, events: events) {
      shares.setUnmeasured(unmeasured, of: fence, drive: drive)
    }
    fenceOutages[drive] = nil
  }

  /// Where no ping was answered: by single pings, or by fences for drives whose logs are not there.
  public var outages: Outages {
    fenceOutages.sorted { $0.key < $1.key }.reduce(into: logged.outages) { $0.add($1.value.outages) }
  }

  /// Whether there may be more and longer ``outages``: the log of a drive is not there.
  var hasOutagesOfFences: Bool { !fenceOutages.isEmpty }

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
