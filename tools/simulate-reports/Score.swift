import Coverage
import Export
import Foundation

/// How often the intervals of one kind contain the true value.
struct Hits {
  let name: String
  /// The intervals, and all reports.
  private(set) var ends: [(lower: Double, upper: Double)] = []
  private(set) var reports = 0
  /// `nil` until it is known.
  var truth: Double?

  init(_ name: String, truth: Double?) { (self.name, self.truth) = (name, truth) }

  mutating func add(_ object: Any?, lower: String = "lower", upper: String = "upper") {
    reports += 1
    let object = object as? [String: Any]
    if let lower = object?[lower] as? Double, let upper = object?[upper] as? Double { ends.append((lower, upper)) }
  }

  var right: Int { truth.map { truth in ends.count { $0.lower <= truth && truth <= $0.upper } } ?? 0 }
  /// The share of reports with an interval.
  var given: Double { Double(ends.count) / Double(max(1, reports)) }
  var covered: Double { Double(right) / Double(max(1, ends.count)) }
}

/// The score of reports on drives of one law.
struct Score {
  private let law: Law
  private let runs: Int
  private var hits: [Hits]
  private var coverages: [Double] = []
  private var alarms = (withLeast: 0, without: 0)
  private var found: [String: Int] = [:]

  init(of law: Law, runs: Int) {
    (self.law, self.runs) = (law, runs)
    hits = [
      Hits("mean", truth: law.mean), Hits("median", truth: law.median),
      Hits("95th percentile", truth: law.percentile95),
      Hits("loss of 2 %", truth: 2), Hits("loss of 10 %", truth: 10), Hits("distance with coverage", truth: nil),
    ]
  }

  mutating func run(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var (worse, rough) = (law, law)
    (worse.median, worse.loss, rough.loss) = (law.median + 5, law.loss + 0.02, 0.1)
    let drives = [law, law, worse, rough].enumerated().map { MadeUpDrive($1, id: Int64($0 + 1), random: &random) }
    let alike = try report(drives[0], drives[1])
    for part in alike.parts { count(part) }
    if !Self.different(alike.findings).isEmpty { alarms.withLeast += 1 }
    if !Self.different(alike.withoutLeast).isEmpty { alarms.without += 1 }
    let unlike = try report(drives[0], drives[2])
    for figure in Self.different(unlike.withoutLeast) { found[figure, default: 0] += 1 }
    let lossy = try report(drives[3], drives[3]).parts[0]
    hits[4].add((lossy["loss"] as? [String: Any])?["percent_interval"])
    let coverage = lossy["coverage"] as? [String: Any]
    hits[5].add(coverage?["covered_way_percent_interval"])
    if let share = (coverage?["covered"] as? [String: Any])?["way_percent"] as? Double { coverages.append(share) }
  }

  private mutating func count(_ part: [String: Any]) {
    let delay = part["delay"] as? [String: Any]
    hits[0].add(delay?["mean_ms_interval"])
    for (index, percent) in [(1, 50), (2, 95)] {
      let found = (delay?["percentiles"] as? [[String: Any]])?.first { $0["percent"] as? Int == percent }
      hits[index].add(found, lower: "lower_ms", upper: "upper_ms")
    }
    hits[3].add((part["loss"] as? [String: Any])?["percent_interval"])
  }

  /// The figures that a report calls different.
  private static func different(_ findings: [[String: Any]]) -> [String] {
    findings.filter { $0["verdict"] as? String == "different" }.compactMap { $0["figure"] as? String }
  }

  /// The report as programs read it: its parts, and its findings with and without a least difference.
  private func report(
    _ first: MadeUpDrive, _ second: MadeUpDrive
  ) throws -> (parts: [[String: Any]], findings: [[String: Any]], withoutLeast: [[String: Any]]) {
    var comparison = PlaceComparison()
    let parts = [try first.part(&comparison, .first), try second.part(&comparison, .second)]
    func object(_ least: LeastDifferences) throws -> [String: Any]? {
      let text = Report(parts: parts, comparison: comparison, least: least).json.text
      return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    }
    func findings(_ object: [String: Any]?) -> [[String: Any]] {
      (object?["comparison"] as? [String: Any])?["findings"] as? [[String: Any]] ?? []
    }
    let report = try object(LeastDifferences())
    let none = LeastDifferences(delayMilliseconds: 0, lossPoints: 0, coveragePoints: 0)
    return (report?["parts"] as? [[String: Any]] ?? [], findings(report), findings(try object(none)))
  }

  /// The share of distance with coverage has no formula: its true value is that of all drives together.
  private var all: [Hits] {
    hits.map { hit in
      var hit = hit
      if hit.truth == nil { hit.truth = coverages.reduce(0, +) / Double(max(1, coverages.count)) }
      return hit
    }
  }

  private var drive: String { "\(law.minutes) min | \(law.correlation.formatted()) s" }

  private static func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }

  /// The rows of the table of intervals.
  var intervals: [(line: String, name: String)] {
    all.map { hit in
      let right = hit.ends.count >= 10 ? Self.percent(hit.covered) : "\(hit.right) of \(hit.ends.count)"
      return ("| \(drive) | \(hit.name) | \(Self.percent(hit.given)) | \(right) |", hit.name)
    }
  }

  /// The row of the table of tests.
  var tests: String {
    let number = Double(runs)
    let shares = [alarms.withLeast, alarms.without, found["delay"] ?? 0, found["loss"] ?? 0].map {
      Self.percent(Double($0) / number)
    }
    return "| \(drive) | \(shares.joined(separator: " | ")) |"
  }

  /// The goals that are not met, each with an allowance of two standard deviations for the number of runs. Where few drives have an
  /// interval, these are the ones that seem to have enough samples, and so are wrong more often: then at most 7 % of all drives may have a
  /// wrong one.
  var misses: [String] {
    func allowance(_ share: Double, _ number: Int) -> Double {
      2 * (share * (1 - share) / Double(max(1, number))).squareRoot()
    }
    var misses: [String] = []
    for hit in all {
      let wrong = Double(hit.ends.count - hit.right) / Double(max(1, hit.reports))
      let isGiven = hit.given >= 0.8
      let spread = allowance(0.95, hit.ends.count)
      if isGiven ? !(0.93 - spread...0.97 + spread).contains(hit.covered) : wrong > 0.07 + allowance(0.07, hit.reports)
      {
        misses.append("\(drive): \(hit.name)")
      }
    }
    if Double(alarms.without) / Double(runs) > 0.06 + allowance(0.06, runs) { misses.append("\(drive): false alarms") }
    return misses
  }
}
