/// The percentile by nearest rank.
public enum NearestRank {
  /// The rank of a percentile, from 1: `percent` × `count` / 100, rounded up, without an overflow.
  /// - Parameters:
  ///   - percent: 1 to 100.
  ///   - count: The number of elements, at least 1.
  public static func of(_ percent: Int, count: Int) -> Int {
    max(1, min(count, count / 100 * percent + (count % 100 * percent + 99) / 100))
  }

  /// The fewest elements of which the 95th percentile is not always the greatest. Of fewer, no output has it.
  static let fewestFor95 = 20
}

extension Array where Element: Comparable {
  /// The percentile by nearest rank: the smallest element that at least `percent` of all elements do not exceed. The array must be in
  /// ascending order. `nil` for an empty array.
  /// - Parameter percent: 1 to 100.
  public func nearestRank(_ percent: Int) -> Element? {
    isEmpty ? nil : self[NearestRank.of(percent, count: count) - 1]
  }
}

extension Array where Element == Int64 {
  /// The median in any order; of an even number, the mean of the two in the middle. `nil` for an empty array.
  public var median: Int64? {
    let values = sorted()
    guard !values.isEmpty else { return nil }
    let middle = values.count / 2
    if values.count % 2 == 1 { return values[middle] }
    return values[middle - 1].saturatingAdding(values[middle].saturatingSubtracting(values[middle - 1]) / 2)
  }
}

extension RandomAccessCollection where Index == Int {
  /// The index of the first element for which `isBefore` does not hold; it holds for all before that one and for none behind.
  @inlinable
  public func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
