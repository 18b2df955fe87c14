import Coverage
import Store

/// Ended speed tests that are summarised together: all of a selection, or those of one technology.
public struct SpeedTestGroup: Sendable {
  /// All ended tests.
  public private(set) var tests = 0
  /// The numbers of tests by outcome; a test without a known outcome is in ``tests`` only.
  public private(set) var outcomes: [StoredSpeedTest.Outcome: Int] = [:]
  /// Completed tests of which a phase was interrupted.
  public private(set) var interrupted = 0
  /// The values of the completed tests, in the order of the tests.
  private var values: [SpeedTestQuantity: [Int64]] = [:]

  mutating func add(_ test: ReportedSpeedTest) {
    tests += 1
    guard let outcome = test.outcome else { return }
    outcomes[outcome, default: 0] += 1
    guard outcome == .completed, let figures = test.figures else { return }
    if figures.isInterrupted { interrupted += 1 }
    for quantity in SpeedTestQuantity.allCases {
      if let value = quantity.value(of: figures) { values[quantity, default: []].append(value) }
    }
  }

  /// The number of tests with this outcome.
  public func count(_ outcome: StoredSpeedTest.Outcome) -> Int { outcomes[outcome] ?? 0 }

  /// The share of completed tests, 0 to 1; `nil` without tests.
  public var completed: Double? { tests > 0 ? Double(count(.completed)) / Double(tests) : nil }

  /// The unsuccessful ratio (after ETSI EG 202 057-4): failed tests divided by failed and completed ones, 0 to 1; `nil`
  /// without any. An aborted test shows nothing of the network.
  var unsuccessful: Double? {
    let ended = count(.failed) + count(.completed)
    return ended > 0 ? Double(count(.failed)) / Double(ended) : nil
  }

  /// The values of the completed tests that have one.
  func values(of quantity: SpeedTestQuantity) -> [Int64] { values[quantity] ?? [] }

  /// The quantiles over the completed tests that have a value; `nil` without any.
  func quantiles(of quantity: SpeedTestQuantity) -> Quantiles? { Quantiles(values(of: quantity)) }
}
