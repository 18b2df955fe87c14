import Coverage
import Export
import Foundation

/// The law of made-up speed tests, one after the other: log-normal data rates that are alike in a row.
struct SpeedTestLaw {
  let tests: Int
  /// The correlation, in tests; 0: independent ones.
  let correlation: Double
  /// The median of the rates, in Mbit/s.
  static let median = 50.0
  /// The standard deviation of the rates' logarithm.
  static let spread = 0.5

  /// The figures of a selection with tests by this law.
  /// - Parameter factor: Multiplies the rates.
  func part(_ number: Int, factor: Double = 1, random: inout SplitMix64) -> Report.Part {
    let memory = correlation > 0 ? exp(-1 / correlation) : 0
    var (figures, level) = (ReportFigures(), random.normal())
    for test in 0..<tests {
      let rate = Int64(Self.median * 1000 * factor * exp(Self.spread * level))
      var measured = SpeedTestFigures(server: "192.0.2.1", port: 443, kind: "RMBT")
      measured.download = SpeedTestRate(
        kilobitsPerSecond: rate, bytes: rate * 875, nanoseconds: 7_000_000_000, began: 0, connections: 3, curves: [])
      figures.add(
        ReportedSpeedTest(
          id: Int64(number * tests + test), outcome: .completed, technology: nil, figures: measured))
      level = memory * level + (1 - memory * memory).squareRoot() * random.normal()
    }
    return Report.Part(title: "\(number)", figures: figures)
  }
}

/// The score of reports on speed tests of one law.
struct SpeedTestScore {
  private let law: SpeedTestLaw
  private var median = Hits("median download", truth: SpeedTestLaw.median)
  private var (comparisons, alarms, found) = (0, 0, 0)

  init(of law: SpeedTestLaw) { self.law = law }

  mutating func run(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let parts = (0..<2).map { law.part($0, random: &random) }
    let alike = try ReportReading(parts, PlaceComparison(), LeastDifferences())
    for part in alike.parts {
      let download = (part["speed_tests"] as? [String: Any])?["download"]
      median.add(download, lower: "lower_mbps", upper: "upper_mbps")
    }
    let verdict = alike.findings.first { $0["figure"] as? String == "download" }?["verdict"] as? String
    if verdict != "not enough samples" { comparisons += 1 }
    if verdict == "different" { alarms += 1 }
    let faster = law.part(2, factor: 1.5, random: &random)
    if try ReportReading([parts[0], faster], PlaceComparison(), LeastDifferences()).different.contains("download") {
      found += 1
    }
  }

  /// The row of the table of speed tests.
  var line: String {
    let runs = Double(max(1, median.reports)) / 2
    let shares = [
      median.given, median.covered, Double(comparisons) / runs, Double(alarms) / runs, Double(found) / runs,
    ]
    return
      "| \(law.tests) | \(law.correlation.formatted()) tests | \(shares.map(Score.percent).joined(separator: " | ")) |"
  }

  /// The goals that are not met.
  var misses: [String] {
    let name = "\(law.tests) speed tests | \(law.correlation.formatted()) tests"
    let isFalse = Double(alarms) > Score.most(0.06, of: median.reports / 2)
    return (median.isRight ? [] : ["\(name): median"]) + (isFalse ? ["\(name): false alarms"] : [])
  }
}
