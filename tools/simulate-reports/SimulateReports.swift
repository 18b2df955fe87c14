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
      compares the first drive with the second, then with the worse one. Exit status: 0 all goals met, 1 some not met, 64 wrong usage.
      """)

  @Option(help: "Runs for each duration and correlation time.") var runs = 400
  @Option(help: "Durations of drives, in minutes.") var minutes: [Int] = [10, 30]
  @Option(help: "Correlation times, in seconds.") var correlation: [Double] = [0, 2, 10, 30]
  @Option(help: "The same seed gives the same drives.") var seed: UInt64 = 1

  func validate() throws {
    guard (20...100_000).contains(runs), minutes.allSatisfy((1...600).contains),
      correlation.allSatisfy((0...3600).contains)
    else {
      throw ValidationError("--runs takes 20 to 100000, --minutes 1 to 600, --correlation 0 to 3600.")
    }
  }

  func run() throws {
    print("| drive | correlation | figure | with interval | of these right |", "|---|---|---|---|---|", separator: "\n")
    var (tests, misses): ([String], [String]) = ([], [])
    for minutes in minutes {
      for correlation in correlation {
        var score = Score(of: Law(minutes: minutes, correlation: correlation), runs: runs)
        for run in 0..<runs {
          // Each run has its own drives, whatever the number of runs.
          try score.run(seed: seed &* 0x5851_F42D_4C95_7F2D &+ UInt64(run))
        }
        print(score.intervals.map(\.line).joined(separator: "\n"))
        tests.append(score.tests)
        misses += score.misses
      }
    }
    print(
      "", "| drive | correlation | false alarms | by the tests alone | 5 ms found | 2 % of loss found |",
      "|---|---|---|---|---|---|", tests.joined(separator: "\n"), "", separator: "\n")
    print(misses.isEmpty ? "all goals met" : "not met: \(misses.joined(separator: "; "))")
    if !misses.isEmpty { throw ExitCode(1) }
  }
}
