extension Array where Element: Comparable {
  /// The percentile by nearest rank: the smallest element that at least `percent` of all elements do not exceed. The array must be in
  /// ascending order. `nil` for an empty array.
  /// - Parameter percent: 1 to 100.
  public func nearestRank(_ percent: Int) -> Element? {
    guard !isEmpty else { return nil }
    let rank = (count * percent + 99) / 100
    return self[Swift.min(Swift.max(rank, 1), count) - 1]
  }
}
