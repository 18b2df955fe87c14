import Coverage

/// Does one of two unpaired samples have the greater values, when values in a row are alike?
///
/// The share of pairs in which the second value is greater is Mann and Whitney's U, divided by the number of pairs: it is the mean of each
/// value's share of the other side below it. So its standard error is that of two means of correlated values (``CorrelatedMean``), taken where
/// the sides overlap, after the shift between them. The interval has the shifts that the test does not refuse.
struct RankSum: Hashable, Sendable {
  /// The number of values of the first sample.
  let first: Int
  /// The number of values of the second sample.
  let second: Int
  /// The share of pairs in which the second value is greater, 0 to 1; equal ones count as a half.
  let secondIsGreater: Double
  /// By how much the second values are greater: the median of all pairs' differences, after Hodges and Lehmann, in the unit of the values.
  let difference: Difference

  /// `nil` when a side has too few values, or values too much alike in a row.
  /// - Parameters: Each in the order of measuring.
  init?(_ firstValues: [Int64], _ secondValues: [Int64]) {
    (first, second) = (firstValues.count, secondValues.count)
    guard first > 0, second > 0 else { return nil }
    let pairs = Double(first) * Double(second)
    let (firstSorted, secondSorted) = (firstValues.sorted(), secondValues.sorted())
    let differences = PairDifferences(firstSorted, secondSorted)
    secondIsGreater = differences.shareAbove(0)
    let shift = differences.value(atRank: (first * second + 1) / 2)
    let sides = [
      Self.deviations(firstValues.map { $0.saturatingAdding(shift) }, among: secondSorted),
      Self.deviations(secondValues.map { $0.saturatingSubtracting(shift) }, among: firstSorted),
    ].compactMap { $0 }.filter(\.isEnough)
    guard sides.count == 2 else { return nil }
    let error = Welch(sides.map { ($0.standardError, Double($0.freedom)) })
    let margin = StudentT.quantile(freedom: error.freedom) * error.standardError
    // Otherwise even sides that do not overlap would not differ.
    guard margin < 0.5 else { return nil }
    let tail = max(1, Int((pairs * (0.5 - margin)).rounded()))
    difference = Difference(
      effect: Double(shift), lower: Double(differences.value(atRank: tail)),
      upper: Double(differences.value(atRank: first * second + 1 - tail)),
      probability: StudentT.probability((secondIsGreater - 0.5) / error.standardError, freedom: error.freedom),
      effective: sides.map(\.effective).min() ?? 0)
  }

  /// How exactly the mean share of `sorted` below each value is known.
  private static func deviations(_ values: [Int64], among sorted: [Int64]) -> CorrelatedMean? {
    let below = values.map { value in
      Double(sorted.partitionPoint { $0 < value } + sorted.partitionPoint { $0 <= value }) / Double(2 * sorted.count)
    }
    let mean = below.reduce(0, +) / Double(below.count)
    return CorrelatedMean(SerialBlocks(below.map { $0 - mean }))
  }
}

/// The differences of all pairs of a first and a second value, second less first, without a list of them.
private struct PairDifferences {
  private let first: [Int64]
  private let second: [Int64]

  /// Both in ascending order, and not empty.
  init(_ first: [Int64], _ second: [Int64]) { (self.first, self.second) = (first, second) }

  /// The difference at a rank, 1 to the number of pairs.
  func value(atRank rank: Int) -> Int64 {
    var low = second[0].saturatingSubtracting(first[first.count - 1])
    var high = second[second.count - 1].saturatingSubtracting(first[0])
    while low < high {
      let middle = low + high.saturatingSubtracting(low) / 2
      if count(upTo: middle) >= rank { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The share of differences above a value; equal ones count as a half.
  func shareAbove(_ value: Int64) -> Double {
    1 - Double(count(upTo: value) + count(upTo: value - 1)) / (2 * Double(first.count) * Double(second.count))
  }

  private func count(upTo difference: Int64) -> Int {
    var (count, seconds) = (0, 0)
    for value in first {
      while seconds < second.count, second[seconds].saturatingSubtracting(value) <= difference { seconds += 1 }
      count += seconds
    }
    return count
  }
}
