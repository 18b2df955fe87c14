import Coverage
import Store

/// The ended speed tests of a selection: those of mobile networks, and apart from them those of other links.
struct SpeedTestSummary: Sendable {
  /// The tests on mobile networks, and those whose link is not known.
  private(set) var all = SpeedTestGroup()
  /// These tests by the last technology in each.
  private(set) var byTechnology: [Reception: SpeedTestGroup] = [:]
  /// The other tests by their link, as `[SpeedTestLink].otherName` names it.
  private(set) var otherLinks: [String: SpeedTestGroup] = [:]
  /// The numbers of the tests in the store, to find those that two selections share.
  private(set) var ids: Set<Int64> = []

  var isEmpty: Bool { all.tests == 0 && otherLinks.isEmpty }

  mutating func add(_ test: ReportedSpeedTest) {
    if let link = test.figures?.links?.otherName {
      otherLinks[link, default: SpeedTestGroup()].add(test)
      return
    }
    all.add(test)
    byTechnology[Reception(on: test.technology), default: SpeedTestGroup()].add(test)
    ids.insert(test.id)
  }
}

/// Ended speed tests that are summarised together: all of a selection, or those of one technology.
struct SpeedTestGroup: Sendable {
  private(set) var tests = 0
  /// The numbers of tests by outcome; a test without a known outcome is in ``tests`` only.
  private(set) var outcomes: [StoredSpeedTest.Outcome: Int] = [:]
  /// Completed tests of which a phase was interrupted.
  private(set) var interrupted = 0
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

  func count(_ outcome: StoredSpeedTest.Outcome) -> Int { outcomes[outcome] ?? 0 }

  /// The share of completed tests, 0 to 1; `nil` without tests.
  var completed: Double? { tests > 0 ? Double(count(.completed)) / Double(tests) : nil }

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

/// Whether the completed speed tests of two selections differ (``RankSum``): they form no pairs, and are too few to match places.
struct SpeedTestComparison: Sendable {
  /// The figures that are tested.
  static let quantities: [SpeedTestQuantity] = [.download, .upload, .ping]

  /// The statistical tests by figure. Absent for a figure of which a side has too few values, or too much alike; empty when ``shared`` is above
  /// 0.
  let tests: [SpeedTestQuantity: RankSum]
  /// The number of speed tests that are in both selections: such samples are not independent.
  let shared: Int

  /// `nil` when a side has no speed test.
  init?(_ first: SpeedTestSummary, _ second: SpeedTestSummary) {
    guard first.all.tests > 0, second.all.tests > 0 else { return nil }
    shared = first.ids.intersection(second.ids).count
    var tests: [SpeedTestQuantity: RankSum] = [:]
    if shared == 0 {
      for quantity in Self.quantities {
        tests[quantity] = RankSum(first.all.values(of: quantity), second.all.values(of: quantity))
      }
    }
    self.tests = tests
  }
}

/// An ended speed test as a report reads it.
public struct ReportedSpeedTest: Sendable {
  let id: Int64
  /// How it ended; `nil` for an outcome that a later build wrote.
  let outcome: StoredSpeedTest.Outcome?
  let technology: Technology?
  /// Its figures; `nil` when it has none, or a later build wrote them in another form.
  let figures: SpeedTestFigures?

  public init(id: Int64, outcome: StoredSpeedTest.Outcome?, technology: Technology?, figures: SpeedTestFigures?) {
    (self.id, self.outcome, self.technology, self.figures) = (id, outcome, technology, figures)
  }

  public init(_ stored: StoredSpeedTest) {
    self.init(id: stored.id, outcome: stored.outcome, technology: stored.technology, figures: stored.figures)
  }
}
