/// The single pings of a selection in the order of sending, one drive after the other: 4 bytes each.
///
/// The drives follow each other without a gap. Pings on both sides of a gap are less alike than pings in a row, and this is part of what
/// ``CorrelatedMean`` measures.
struct PingSeries: Sendable {
  /// Delays in microseconds; -1 without an answer.
  private var values: [Int32] = []
  /// Of the pings, those with an answer.
  private(set) var answered = 0

  /// The number of pings.
  var count: Int { values.count }

  /// Adds the next ping; `nil` for one without an answer. Delays are rounded as ``ValueCounts`` does.
  mutating func add(nanoseconds: Int64?) {
    values.append(nanoseconds.map { Int32(ValueCounts.microseconds(nanoseconds: $0)) } ?? -1)
    if nanoseconds != nil { answered += 1 }
  }

  /// The share of pings without an answer.
  var loss: Estimate? {
    guard count > 0 else { return nil }
    let share = Double(count - answered) / Double(count)
    var blocks = SerialBlocks(count: count)
    for value in values { blocks.add((value < 0 ? 1 : 0) - share) }
    return Estimate.share(share, CorrelatedMean(blocks))
  }

  /// The mean delay in microseconds.
  var mean: Estimate? {
    guard answered > 0 else { return nil }
    let mean = Double(values.reduce(Int64(0)) { $0 + Int64(max(0, $1)) }) / Double(answered)
    return Estimate.mean(mean, deviations { Double($0) - mean })
  }

  /// The percentiles of `delays`, which are those of the answered pings, with their intervals. The correlation of the others is at least that
  /// of the median: few pings are above the 99th percentile, too few to measure it.
  func percentiles(_ percents: [Int], of delays: ValueCounts) -> [Percentile] {
    let median = delays.value(atPercentile: 50).flatMap { position(of: $0) }
    return percents.compactMap { percent in
      delays.value(atPercentile: percent).map { percentile(percent, $0, of: delays, median: median) }
    }
  }

  private func percentile(_ percent: Int, _ value: Int64, of delays: ValueCounts, median: CorrelatedMean?) -> Percentile
  {
    let found = Percentile(percent: percent, value: value)
    guard let median else { return found }
    let position = percent == 50 ? median : position(of: value, mostIndependent: median.independent)
    guard let position, let ranks = position.ranks(around: percent) else { return found }
    func delay(_ rank: Int?) -> Int64? { rank.flatMap { delays.values(atRanks: [$0])[0] } }
    return Percentile(
      percent: percent, value: value, lower: delay(ranks.lower), upper: delay(ranks.upper),
      effective: position.effective)
  }

  /// How exactly the share of answered pings up to a delay is known.
  private func position(of microseconds: Int64, mostIndependent: Double = .infinity) -> CorrelatedMean? {
    guard answered > 0 else { return nil }
    let share = Double(values.count { $0 >= 0 && $0 <= microseconds }) / Double(answered)
    return deviations(mostIndependent: mostIndependent) { ($0 <= microseconds ? 1 : 0) - share }
  }

  /// The precision of a mean over the answered pings.
  private func deviations(
    mostIndependent: Double = .infinity, _ deviation: (Int32) -> Double
  ) -> CorrelatedMean? {
    var blocks = SerialBlocks(count: answered)
    for value in values where value >= 0 { blocks.add(deviation(value)) }
    return CorrelatedMean(blocks, mostIndependent: mostIndependent)
  }
}
