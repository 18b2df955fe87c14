import ArgumentParser
import Coverage
import Export
import Settings

/// The differences that a comparison calls different.
struct LeastOptions: ParsableArguments {
  @Option(
    name: .long,
    help: "The least difference of delays that matters, in milliseconds. Default: report.least-difference.delay.")
  var leastDelay: Double?

  @Option(name: .long, help: "The same of losses, in percentage points. Default: report.least-difference.loss.")
  var leastLoss: Double?

  @Option(
    name: .long,
    help: "The same of the distance with coverage, in percentage points. Default: report.least-difference.coverage.")
  var leastCoverage: Double?

  mutating func validate() throws {
    let ranges: [(option: String, value: Double?, greatest: Double)] = [
      ("--least-delay", leastDelay, 10_000), ("--least-loss", leastLoss, 100), ("--least-coverage", leastCoverage, 100),
    ]
    for (option, value, greatest) in ranges where value.map({ !(0...greatest).contains($0) }) ?? false {
      throw ValidationError("\(option): expected 0 to \(Int(greatest)).")
    }
  }

  /// Those of the options, else of the configuration.
  func differences(_ settings: ProbeConfiguration.ReportSettings) -> LeastDifferences {
    LeastDifferences(
      delayMilliseconds: leastDelay ?? settings.leastDelay.inSeconds * 1000,
      lossPoints: leastLoss ?? settings.leastLoss, coveragePoints: leastCoverage ?? settings.leastCoverage)
  }
}
