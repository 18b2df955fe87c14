import Coverage

/// Thins out curves for the store and the server: one point each 50 ms, the last one, and the two points around the common end,
/// so that the result can be computed again from the remaining points (docs/protocol.md, 7.6).
enum CurveThinning {
  /// ns.
  static let spacing: Int64 = 50_000_000

  /// - Parameter end: The common end of all threads, ns since the start of the phase (``Throughput/nanoseconds``).
  static func thinned(_ samples: [Sample], around end: Int64) -> [Sample] {
    let after = samples.firstIndex { $0.nanoseconds >= end } ?? samples.endIndex
    var latest = Int64.min
    return samples.enumerated().filter { index, sample in
      let isKept =
        index == samples.count - 1 || index == after || index == after - 1
        || sample.nanoseconds.saturatingSubtracting(latest) >= spacing
      if isKept { latest = sample.nanoseconds }
      return isKept
    }.map(\.element)
  }
}
