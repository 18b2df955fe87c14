import Coverage

/// The ended speed tests of a selection: those of mobile networks, and apart from them those of other links.
public struct SpeedTestSummary: Sendable {
  /// The tests on mobile networks, and those whose link is not known.
  public private(set) var all = SpeedTestGroup()
  /// These tests by the technology at their start.
  private(set) var byTechnology: [Reception: SpeedTestGroup] = [:]
  /// The other tests by their link, as `[SpeedTestLink].otherName` names it.
  private(set) var otherLinks: [String: SpeedTestGroup] = [:]
  /// The numbers of the tests in the store, to find those that two selections share.
  private(set) var ids: Set<Int64> = []

  /// No tests.
  public init() {}

  /// Whether there is no test.
  public var isEmpty: Bool { all.tests == 0 && otherLinks.isEmpty }

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
