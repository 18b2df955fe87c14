import Coverage

/// How often each value was measured, in a unit of the caller: exact percentiles in memory that does not grow with the number of values.
///
/// The counts are in pages of 1024 units (8 KiB), and only pages with a value exist: a drive with delays below 2 s needs at most 16 MB in
/// microseconds.
struct ValueCounts: Sendable {
  private(set) var count = 0
  /// The counts by page and, in a page, by unit.
  private var pages: [Int64: [UInt64]] = [:]

  private static let pageSize: Int64 = 1024
  /// Greater values count as this one, which bounds the number of pages. It is ten minutes in microseconds; no ping waits that long.
  private static let greatest: Int64 = 600_000_000

  /// Counts a delay `times` times, in microseconds, rounded half up.
  mutating func add(nanoseconds: Int64, times: Int = 1) {
    add(Self.microseconds(nanoseconds: nanoseconds), times: times)
  }

  /// A delay in microseconds as it is counted: rounded half up, and clamped.
  static func microseconds(nanoseconds: Int64) -> Int64 {
    min(max(nanoseconds.saturatingAdding(500) / 1000, 0), greatest)
  }

  /// Counts a value `times` times; it is clamped to 0 to 600 million.
  mutating func add(_ value: Int64, times: Int = 1) {
    guard times > 0 else { return }
    let (page, index) = min(max(value, 0), Self.greatest).quotientAndRemainder(dividingBy: Self.pageSize)
    pages[page, default: Array(repeating: 0, count: Int(Self.pageSize))][Int(index)] += UInt64(times)
    count = count.saturatingAdding(times)
  }

  /// The values at `ranks`, from 1 and in any order; `nil` for a rank that does not exist. It reads the
  /// counts once.
  func values(atRanks ranks: [Int]) -> [Int64?] {
    var found = [Int64?](repeating: nil, count: ranks.count)
    // The places of the ranks that are still to find, the lowest rank first.
    var open = ranks.indices.filter { (1...max(count, 1)).contains(ranks[$0]) && count > 0 }
      .sorted { ranks[$0] < ranks[$1] }[...]
    var passed: UInt64 = 0
    for (page, counts) in pages.sorted(by: { $0.key < $1.key }) {
      for (index, times) in counts.enumerated() where times > 0 {
        passed += times
        while let next = open.first, UInt64(ranks[next]) <= passed {
          found[next] = page * Self.pageSize + Int64(index)
          open.removeFirst()
        }
        if open.isEmpty { return found }
      }
    }
    return found
  }

  /// The percentile by nearest rank; `nil` without values.
  /// - Parameter percent: 1 to 99.
  func value(atPercentile percent: Int) -> Int64? {
    count > 0 ? values(atRanks: [NearestRank.of(percent, count: count)])[0] : nil
  }
}
