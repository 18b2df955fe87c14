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
