import Coverage
import Store

/// Sums of the pings of fences, from which loss (RFC 2680) and mean delay (RFC 2681) follow. They saturate.
struct PingSums: Hashable, Sendable {
  /// Those that were sent and have an outcome.
  private(set) var pings = 0
  /// Those that were answered in time.
  private(set) var answered = 0
  /// Those that were answered too late.
  private(set) var late = 0
  /// Second and further answers.
  private(set) var duplicates = 0
  /// Those that were not measured, because this host could not send them or nothing listened; not among ``pings``.
  private(set) var unsent = 0
  /// The sum of the delays of ``answered``, in nanoseconds; saturates.
  private(set) var nanoseconds: Int64 = 0

  init(pings: Int = 0, answered: Int = 0, nanoseconds: Int64 = 0) {
    (self.pings, self.answered, self.nanoseconds) = (pings, answered, nanoseconds)
  }

  mutating func add(_ fence: Fence) {
    var sums = PingSums(pings: fence.pings, answered: fence.pingsAnswered, nanoseconds: fence.rttSumNanoseconds)
    (sums.late, sums.duplicates, sums.unsent) = (fence.figures.late, fence.figures.duplicates, fence.figures.unsent)
    add(sums)
  }

  mutating func add(_ other: PingSums) {
    pings = pings.saturatingAdding(other.pings)
    answered = answered.saturatingAdding(other.answered)
    late = late.saturatingAdding(other.late)
    duplicates = duplicates.saturatingAdding(other.duplicates)
    unsent = unsent.saturatingAdding(other.unsent)
    nanoseconds = nanoseconds.saturatingAdding(other.nanoseconds)
  }

  /// The mean delay of the answered pings in nanoseconds; `nil` when none was answered.
  var mean: Double? { answered > 0 ? Double(nanoseconds) / Double(answered) : nil }

  /// The same in microseconds, rounded.
  var meanMicroseconds: Int64? { mean.flatMap { Int64(exactly: ($0 / 1000).rounded()) } }

  /// Those without an answer in time.
  var lost: Int { pings.saturatingSubtracting(answered) }

  /// The share of ``lost``, 0 to 1; `nil` without pings.
  var loss: Double? { pings > 0 ? Double(lost) / Double(pings) : nil }
}

/// Fences that have something in common, such as their technology, added up: a row of a table of a report.
struct FenceGroup: Sendable {
  /// The most runs: when they are more, two become one, so that memory does not grow with the fences.
  private static let most = 1024

  private(set) var sums = PingSums()
  /// The delays of the answered pings, of fences that have bins.
  private(set) var delays = Distribution()
  private(set) var fences = 0
  /// Pings with the lost ones of these, and measured metres with those of these without an answer.
  private var (pings, distance) = (ShareRuns(), ShareRuns())
  /// The fences of a run.
  private var size = 1

  /// The metres to the next fences that were measured, and those of these without an answer.
  var metres: (measured: Double, silent: Double) {
    distance.runs.reduce((0, 0)) { ($0.0 + $1.whole, $0.1 + $1.part) }
  }

  /// The share of the measured distance without an answer, 0 to 1; `nil` where no distance was measured.
  var silentShare: Double? {
    let (measured, silent) = metres
    return measured > 0 ? silent / measured : nil
  }

  /// The intervals of the loss and of ``silentShare``: samples are fences in the order of the store, of many fences runs of them.
  var loss: Estimate? { Estimate.share(ofPieces: pings.runs.filter { $0.whole > 0 })?.estimate }
  var silence: Estimate? { Estimate.share(ofPieces: distance.runs.filter { $0.whole > 0 })?.estimate }

  mutating func add(_ fence: Fence) {
    sums.add(fence)
    delays.add(fence.figures.delays)
    if fences / size == Self.most {
      size *= 2
      pings.halve()
      distance.halve()
    }
    pings.add((Double(fence.pings), Double(fence.pingsLost)), toRun: fences / size)
    distance.add((0, 0), toRun: fences / size)
    fences += 1
  }

  /// Adds the distance from a fence of the group, by its place among them, to the next one.
  fileprivate mutating func add(metres: Double, from fence: Int, _ reception: Reception) {
    guard reception.isMeasured else { return }
    distance.add((metres, reception == .noAnswer ? metres : 0), toRun: fence / size)
  }
}

/// Wholes with a part of each, such as measured metres with those without an answer, in the order of measuring: summed in runs.
struct ShareRuns: Sendable {
  private(set) var runs: [(whole: Double, part: Double)] = []

  /// - Parameter run: The last one, another one behind it, or one before.
  mutating func add(_ step: (whole: Double, part: Double), toRun run: Int) {
    if run == runs.count { runs.append((0, 0)) }
    runs[run] = (runs[run].whole + step.whole, runs[run].part + step.part)
  }

  /// Makes two runs one.
  mutating func halve() { runs.halve { $0 = ($0.whole + $1.whole, $0.part + $1.part) } }
}

extension Array {
  /// Joins each two neighbours to one; a last one without a neighbour stays.
  mutating func halve(_ join: (inout Element, Element) -> Void) {
    self = stride(from: 0, to: count, by: 2).map { place in
      var element = self[place]
      if place + 1 < count { join(&element, self[place + 1]) }
      return element
    }
  }
}

/// The groups of a table, by name.
struct FenceGroups: Sendable {
  private var names: [String]
  private var groups: [String: FenceGroup] = [:]
  /// The group, the place in it and the reception of the last fence of each drive.
  private var last: [Int64: (name: String, fence: Int, reception: Reception)] = [:]

  /// - Parameter names: Those whose order is known; others follow in the order in which they come.
  init(_ names: [String] = []) { self.names = names }

  /// The groups with fences, in order.
  var rows: [(name: String, group: FenceGroup)] { names.compactMap { name in groups[name].map { (name, $0) } } }

  subscript(name: String) -> FenceGroup? { groups[name] }

  /// The names in any of these, in order.
  static func names(of all: [FenceGroups]) -> [String] {
    all.flatMap(\.names).reduce(into: []) { names, name in
      if !names.contains(name), all.contains(where: { $0[name] != nil }) { names.append(name) }
    }
  }

  /// - Parameter metres: From the fence of the link before; `nil` when this one does not continue it.
  mutating func add(_ reported: StoredFence, metres: Double?, to name: String) {
    if let metres, let before = last[reported.session.drive] {
      groups[before.name]?.add(metres: metres, from: before.fence, before.reception)
    }
    if groups[name] == nil, !names.contains(name) { names.append(name) }
    last[reported.session.drive] = (name, groups[name]?.fences ?? 0, Reception(reported.fence))
    groups[name, default: FenceGroup()].add(reported.fence)
  }
}

/// How often each of some values came, such as the lowest delays of bins in microseconds (``DelayBins``): some two thousand numbers at most.
struct Distribution: Sendable {
  private(set) var count = 0
  private var counts: [Int64: Int] = [:]

  mutating func add(_ value: Int64, times: Int = 1) {
    counts[value, default: 0] = counts[value, default: 0].saturatingAdding(times)
    count = count.saturatingAdding(times)
  }

  /// Adds the delays of a fence, each as the lowest of its bin: at most 1/64 below the delay.
  mutating func add(_ bins: DelayBins) { for (microseconds, count) in bins.counts { add(microseconds, times: count) } }

  /// The share of each value and the lower ones, in ascending order.
  var steps: [(value: Int64, share: Double)] {
    var passed = 0
    return counts.sorted { $0.key < $1.key }.map { value, count in
      passed = passed.saturatingAdding(count)
      return (value, Double(passed) / Double(self.count))
    }
  }

  /// `nil` without values.
  var mean: Double? {
    count > 0 ? counts.reduce(0) { $0 + Double($1.key) * Double($1.value) } / Double(count) : nil
  }

  /// The value that came most often, of equal ones the least, and how often; `nil` without values.
  var mostFrequent: (value: Int64, times: Int)? {
    counts.min { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
  }

  /// From the least to the greatest value; `nil` without values.
  var range: ClosedRange<Int64>? {
    guard let least = counts.keys.min(), let greatest = counts.keys.max() else { return nil }
    return least...greatest
  }

  /// The percentile by nearest rank; `nil` without values.
  func value(atPercentile percent: Int) -> Int64? {
    guard count > 0 else { return nil }
    let (rank, sorted) = (NearestRank.of(percent, count: count), counts.sorted { $0.key < $1.key })
    var passed = 0
    return sorted.first { entry in
      passed = passed.saturatingAdding(entry.value)
      return passed >= rank
    }?.key
  }
}
