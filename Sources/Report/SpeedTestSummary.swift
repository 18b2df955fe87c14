/// The ended speed tests of a selection: all of them, and those of each technology.
public struct SpeedTestSummary: Sendable {
  /// All tests.
  public private(set) var all = SpeedTestGroup()
  /// The tests by the technology at their start.
  public private(set) var byTechnology: [Reception: SpeedTestGroup] = [:]
  /// The numbers of the tests in the store, to find those that two selections share.
  private(set) var ids: Set<Int64> = []

  /// No tests.
  public init() {}

  /// Whether there is no test.
  public var isEmpty: Bool { all.tests == 0 }

  mutating func add(_ test: ReportedSpeedTest) {
    all.add(test)
    byTechnology[Reception(on: test.technology), default: SpeedTestGroup()].add(test)
    ids.insert(test.id)
  }
}
