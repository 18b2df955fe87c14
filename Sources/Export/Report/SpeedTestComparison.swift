/// Whether the completed speed tests of two selections differ, by the Mann-Whitney test (``RankSum``): they form no pairs,
/// and are too few to match places.
public struct SpeedTestComparison: Sendable {
  /// The figures that are tested.
  public static let quantities: [SpeedTestQuantity] = [.download, .upload, .ping]

  /// The statistical tests by figure. Absent for a figure of which a side has too few values; empty when ``shared`` is above
  /// 0.
  public let tests: [SpeedTestQuantity: RankSum]
  /// The number of speed tests that are in both selections: such samples are not independent.
  public let shared: Int

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
