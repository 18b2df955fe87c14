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
    let (lower, upper) = (object?[lower] as? Double, object?[upper] as? Double)
    // An interval can be open at one end.
    if lower != nil || upper != nil { ends.append((lower ?? -.infinity, upper ?? .infinity)) }
  }

  var right: Int { truth.map { truth in ends.count { $0.lower <= truth && truth <= $0.upper } } ?? 0 }
  /// The share of reports with an interval.
  var given: Double { Double(ends.count) / Double(max(1, reports)) }
  var covered: Double { Double(right) / Double(max(1, ends.count)) }

  /// Whether the goal is met, with an allowance of two standard deviations for the number of runs: 93 to 97 % are right. Where some lack an
  /// interval or an end, more can be right, but not fewer. Where most lack one, the others are those that seem to have enough samples, and so
  /// are wrong more often: then at most 7 % of all may be wrong.
  var isRight: Bool {
    func spread(_ share: Double, _ number: Int) -> Double {
      2 * (share * (1 - share) / Double(max(1, number))).squareRoot()
    }
    guard given >= 0.5 else {
      return Double(ends.count - right) / Double(max(1, reports)) <= 0.07 + spread(0.07, reports)
    }
    let isWhole = given > 0.99 && ends.allSatisfy { $0.lower.isFinite && $0.upper.isFinite }
    return covered >= 0.93 - spread(0.05, ends.count) && (covered <= 0.97 + spread(0.05, ends.count) || !isWhole)
  }
}

/// A report as programs read it.
struct ReportReading {
  let parts: [[String: Any]]
  let findings: [[String: Any]]

  init(_ parts: [Report.Part], _ comparison: PlaceComparison, _ least: LeastDifferences) throws {
    let text = Report(parts: parts, comparison: comparison, least: least).json.text
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    self.parts = object?["parts"] as? [[String: Any]] ?? []
    findings = (object?["comparison"] as? [String: Any])?["findings"] as? [[String: Any]] ?? []
  }

  /// The figures that it calls different.
  var different: [String] {
    findings.filter { $0["verdict"] as? String == "different" }.compactMap { $0["figure"] as? String }
  }
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
    for part in alike[0].parts { count(part) }
    if !alike[0].different.isEmpty { alarms.withLeast += 1 }
    if !alike[1].different.isEmpty { alarms.without += 1 }
    for figure in try report(drives[0], drives[2])[1].different { found[figure, default: 0] += 1 }
    let lossy = try report(drives[3], drives[3])[0].parts[0]
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

  /// The report with and without a least difference.
  private func report(_ first: MadeUpDrive, _ second: MadeUpDrive) throws -> [ReportReading] {
    var comparison = PlaceComparison()
    let parts = [try first.part(&comparison, .first), try second.part(&comparison, .second)]
    let none = LeastDifferences(delayMilliseconds: 0, lossPoints: 0, coveragePoints: 0)
    return try [LeastDifferences(), none].map { try ReportReading(parts, comparison, $0) }
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

  static func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }

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

  /// The goals that are not met.
  var misses: [String] {
    all.filter { !$0.isRight }.map { "\(drive): \($0.name)" }
      + (Double(alarms.without) > Self.most(0.06, of: runs) ? ["\(drive): false alarms"] : [])
  }

  /// The most cases that are compatible with a share, with an allowance of two standard deviations.
  static func most(_ share: Double, of runs: Int) -> Double {
    let runs = Double(runs)
    return runs * share + 2 * (runs * share * (1 - share)).squareRoot()
  }
}
