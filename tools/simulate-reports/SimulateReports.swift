import ArgumentParser
import Export
import Foundation

/// Reports on drives whose true figures are known: do their intervals contain these, and do their comparisons find differences where
/// there are some, and only there?
@main
struct SimulateReports: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate-reports",
    abstract: "Shows how often the intervals and verdicts of reports hold, on drives that are made up.",
    discussion: """
      Each run makes four drives at ten pings a second: two by one law (delays log-normal, median 40 ms; 2 % of the pings are lost), a \
      worse one (median 45 ms, 4 % lost) and one with 10 % lost. Delays and losses are correlated in time. The report of the program \
      compares the first drive with the second, then with the worse one. Speed tests (log-normal data rates, median 50 Mbit/s) are alike in \
      a row, too; a selection is compared with a second one by the same law, then with one that is half again as fast. Exit status: 0 all goals met, 1 some not met, 64 wrong usage.
      """)

  @Option(help: "Runs for each duration and correlation time.") var runs = 400
  @Option(help: "Durations of drives, in minutes.") var minutes: [Int] = [10, 30]
  @Option(help: "Correlation times, in seconds.") var correlation: [Double] = [0, 2, 10, 30]
  @Option(help: "Numbers of speed tests.") var tests: [Int] = [20, 60, 200]
  @Option(help: "Their correlations, in tests.") var testCorrelation: [Double] = [0, 1, 3]
  @Option(help: "The same seed gives the same drives.") var seed: UInt64 = 1

  func validate() throws {
    guard (20...100_000).contains(runs), minutes.allSatisfy((1...600).contains),
      (correlation + testCorrelation).allSatisfy((0...3600).contains), tests.allSatisfy((1...100_000).contains)
    else {
      throw ValidationError(
        "--runs takes 20 to 100000, --minutes 1 to 600, --tests 1 to 100000, --correlation and --test-correlation 0 to 3600."
      )
    }
  }

  func run() throws {
    print("| drive | correlation | figure | with interval | of these right |", "|---|---|---|---|---|", separator: "\n")
    var (comparisons, misses): ([String], [String]) = ([], [])
    for minutes in minutes {
      for correlation in correlation {
        var score = Score(of: Law(minutes: minutes, correlation: correlation), runs: runs)
        for run in 0..<runs {
          // Each run has its own drives, whatever the number of runs.
          try score.run(seed: seed &* 0x5851_F42D_4C95_7F2D &+ UInt64(run))
        }
        print(score.intervals.map(\.line).joined(separator: "\n"))
        comparisons.append(score.tests)
        misses += score.misses
      }
    }
    print(
      "", "| drive | correlation | false alarms | by the tests alone | 5 ms found | 2 % of loss found |",
      "|---|---|---|---|---|---|", comparisons.joined(separator: "\n"), "",
      "| tests | correlation | median with interval | of these right | compared | false alarms | 50 % found |",
      "|---|---|---|---|---|---|---|", separator: "\n")
    for tests in tests {
      for correlation in testCorrelation {
        var score = SpeedTestScore(of: SpeedTestLaw(tests: tests, correlation: correlation))
        for run in 0..<runs * 5 { try score.run(seed: seed &* 0x5851_F42D_4C95_7F2D &+ UInt64(run)) }
        print(score.line)
        misses += score.misses
      }
    }
    print()
    print(misses.isEmpty ? "all goals met" : "not met: \(misses.joined(separator: "; "))")
    if !misses.isEmpty { throw ExitCode(1) }
  }
}
