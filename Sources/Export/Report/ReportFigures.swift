import Coverage
import Store

/// All figures of a selection, collected step by step: first the fences in the order of the store (``add(_:)``, then
/// ``endFences()``), then the logs of their drives and the speed tests.
public struct ReportFigures: Sendable {
  private(set) var shares = CoverageShares()
  private(set) var stretches = WorstStretches()
  private(set) var quality = Quality()
  private(set) var logged = LogFigures()
  /// All fences as one group.
  private(set) var whole = FenceGroup()
  private(set) var speedTests = SpeedTestSummary()
  /// The medians of the fences, each counted as often as its fence has answered pings: for fences without bins of delay.
  private(set) var medians = ValueCounts()
  /// From the entry of the first fence to the exit of the last, in wall time; `nil` without fences.
  private(set) var period: ClosedRange<WallTime>?
  /// The fences by the id of their drive, by which the pings of its log are selected.
  private var selected: [Int64: SelectedFences] = [:]
  private var starts: [Int64: (time: WallTime, link: String?)] = [:]
  /// The outages of drives whose logs are not there, by the id of the drive.
  private var fenceOutages: [Int64: FenceOutages] = [:]
  private(set) var breakdown: Breakdown

  public init(areas: AreaList? = nil) { breakdown = Breakdown(areas: areas) }

  /// The drives of the fences, by id.
  public var drives: Set<Int64> { Set(selected.keys) }

  /// Adds an ended fence; the fences of a session come in order.
  public mutating func add(_ fence: StoredFence) {
    let metres = shares.add(fence)
    stretches.add(fence, metres: metres)
    fenceOutages[fence.session.drive, default: FenceOutages()].add(fence)
    quality.add(fence)
    whole.add(fence.fence)
    breakdown.add(fence, metres: metres)
    if let median = fence.fence.figures.roundTrip?.median {
      medians.add(nanoseconds: median, times: fence.fence.pingsAnswered)
    }
    selected[fence.session.drive, default: SelectedFences()].add(fence.fence, until: fence.exited)
    starts[fence.session.drive] = (fence.session.driveStarted, fence.session.link)
    let (from, to) = (fence.session.driveStarted + fence.fence.entered, fence.session.driveStarted + fence.exited)
    period = period.map { min($0.lowerBound, from)...max($0.upperBound, to) } ?? from...max(from, to)
  }

  public mutating func add(_ test: ReportedSpeedTest) { speedTests.add(test) }

  /// Ends the stretch under way after the last fence; without it, ``stretches`` lacks that stretch.
  public mutating func endFences() { stretches.end() }

  /// Adds the log of a drive; does nothing for a drive without a selected fence.
  /// - Throws: Errors of `events`; nothing of the log is counted then.
  public mutating func addLog(
    of drive: Int64, parameters: Parameters, initialPath: Path, events: ((Event) throws -> Void) throws -> Void
  ) throws {
    guard let start = starts[drive], var fences = selected[drive] else { return }
    fences.sort()
    let log = LogFigures.Log(
      id: drive, fences: fences, started: start.time, link: start.link, parameters: parameters, initialPath: initialPath
    )
    for (fence, unmeasured) in try logged.add(log, events: events) {
      shares.setUnmeasured(unmeasured, of: fence, drive: drive)
    }
    fenceOutages[drive] = nil
  }

  /// Where no ping was answered: by single pings, or by fences for drives whose logs are not there.
  var outages: Outages {
    fenceOutages.sorted { $0.key < $1.key }.reduce(into: logged.outages) { $0.add($1.value.outages) }
  }

  /// Whether there may be more and longer ``outages``: the log of a drive is not there.
  var hasOutagesOfFences: Bool { !fenceOutages.isEmpty }

  var sums: PingSums { whole.sums }

  /// The delays over which percentiles are computed: single pings if any log has answered ones, else the fences' bins, if these have all
  /// answered pings.
  var delays: DelayPopulation {
    // A drive without any answer has all of its delays, none, also in its log.
    if logged.delays.count > 0 || sums.answered == 0 { return .singlePings }
    return whole.delays.count > 0 && whole.delays.count == sums.answered ? .bins : .medians
  }

  /// The number of ``delays``.
  var delayCount: Int {
    switch delays {
    case .singlePings: logged.delays.count
    case .bins: whole.delays.count
    case .medians: medians.count
    }
  }

  static let percents = [50, 75, 90, 95, 99]

  /// The percentiles that a report shows. Only those over single pings have intervals.
  var percentiles: [Percentile] {
    if delays == .singlePings { return logged.series.percentiles(Self.percents, of: logged.delays) }
    return Self.percents.compactMap { percent in
      (delays == .bins ? whole.delays.value(atPercentile: percent) : medians.value(atPercentile: percent))
        .map { Percentile(percent: percent, value: $0) }
    }
  }

  /// Whether the logs have all pings: no log is missing. That of a drive which was killed has some more than its last fence.
  var hasAllLogs: Bool { logged.logs == selected.count && logged.series.count >= sums.pings }

  /// The loss with its interval: over single pings, or over fences as in the groups when a log is missing; `nil` when the samples do not
  /// suffice.
  var loss: Estimate? { hasAllLogs ? logged.series.loss : whole.loss }

  /// The mean delay in microseconds with its interval; `nil` when the samples do not suffice, or a log is missing.
  var mean: Estimate? { hasAllLogs ? logged.series.mean : nil }
}

/// What percentiles of the delay are over; the names are those in JSON.
enum DelayPopulation: String, Sendable {
  case singlePings = "single pings"
  /// The lowest delays of the fences' bins.
  case bins = "delay bins"
  case medians = "fence medians"
}

/// How good the data of the selected fences are: the section *Quality of the data* of a report, with ``LogFigures``.
struct Quality: Sendable {
  /// Accuracies of the positions that opened the fences (68 % radius), in millimetres.
  private(set) var accuracies = ValueCounts()
  /// The number of pauses between two selected fences of a session that follow each other. Fences between them that are not
  /// selected are no pause.
  private(set) var gaps = 0
  private(set) var gapMicroseconds: Int64 = 0
  /// The longest, in microseconds.
  private(set) var longestGap: Int64 = 0
  private var last: StoredFence?

  mutating func add(_ fence: StoredFence) {
    if let accuracy = fence.fence.fix.accuracy, let millimetres = Int64(exactly: (accuracy * 1000).rounded()) {
      accuracies.add(millimetres)
    }
    defer { last = fence }
    guard let last, last.session.id == fence.session.id, last.fence.number.saturatingAdding(1) == fence.fence.number
    else { return }
    let gap = (fence.fence.entered - last.exited).inMicroseconds
    guard gap > 0 else { return }
    gaps += 1
    gapMicroseconds = gapMicroseconds.saturatingAdding(gap)
    longestGap = max(longestGap, gap)
  }
}

/// Finds the outages of a link in its fences, where its log is gone: fences in which pings were sent and none was answered. Outages
/// within a fence with an answer are not seen, so there are at least these.
struct FenceOutages {
  private var ended = Outages()
  private var current: (outage: Outages.Outage, until: DriveTime)?
  private var lastNumber: Int?

  /// The outages up to the last fence.
  var outages: Outages {
    var outages = ended
    if let current { outages.add(current.outage) }
    return outages
  }

  /// Adds a fence; those of a link come in order, whatever their sessions.
  mutating func add(_ fence: StoredFence) {
    let isNext = lastNumber.map { $0.saturatingAdding(1) == fence.fence.number } ?? false
    lastNumber = fence.fence.number
    if !isNext { end() }
    // A short fence without pings is a pause as between two fences.
    if fence.fence.pings <= 0 { return }
    guard Reception(fence.fence) == .noAnswer else { return end() }
    if let current, !(0...Outages.longestPause).contains((fence.fence.entered - current.until).inMicroseconds) { end() }
    let began = fence.session.driveStarted + fence.fence.entered
    var outage =
      current?.outage
      ?? Outages.Outage(
        began: began, place: fence.fence.centre, link: fence.session.link, microseconds: 0, pings: 0)
    outage.microseconds = ((fence.session.driveStarted + fence.exited) - outage.began).inMicroseconds
    outage.pings = outage.pings.saturatingAdding(fence.fence.pings)
    current = (outage, fence.exited)
  }

  private mutating func end() {
    if let current { ended.add(current.outage) }
    current = nil
  }
}

/// The stretches with the highest scores (``Stretch/score``). The fences of each link are cut into stretches in their order, so stretches
/// of a link do not overlap. Stretches that a gap makes shorter or longer come after all others, whatever their scores.
struct WorstStretches: Sendable {
  /// The worst first; of equal ones the earlier.
  private(set) var worst: [Stretch] = []
  /// The stretch under way, by the id of the drive of its link.
  private var current: [Int64: Stretch] = [:]

  /// The most stretches that are listed: their maps have room on the second page.
  static let most = 3

  /// Adds a fence to the stretch under way; begins another one when that is full or a gap is between the two.
  /// - Parameter metres: From the fence before; `nil` when this fence does not continue it.
  mutating func add(_ fence: StoredFence, metres: Double?) {
    if let metres, current[fence.session.drive]?.isFull(before: metres) == false {
      current[fence.session.drive]?.add(fence.fence, metres: metres)
    } else {
      end(fence.session.drive)
      current[fence.session.drive] = Stretch(fence)
    }
  }

  mutating func end() { for drive in current.keys.sorted() { end(drive) } }

  /// Ends a stretch and ranks it; one without pings is dropped.
  private mutating func end(_ drive: Int64) {
    guard let stretch = current.removeValue(forKey: drive), stretch.sums.pings > 0 else { return }
    let place = worst.firstIndex { $0.rank < stretch.rank } ?? worst.count
    worst.insert(stretch, at: place)
    if worst.count > Self.most { worst.removeLast() }
  }
}

extension Stretch {
  /// The greater, the worse; long stretches before others.
  fileprivate var rank: (Int, Double) { (isLong ? 1 : 0, score) }
}
