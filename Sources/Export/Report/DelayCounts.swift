import Coverage

/// How often each delay was measured, at a resolution of a microsecond: exact percentiles in memory that does not grow with
/// the number of pings.
///
/// The counts are in pages of about a millisecond (8 KiB), and only pages with a delay exist: a drive with delays below 2 s
/// needs at most 16 MB.
public struct DelayCounts: Sendable {
  /// The number of delays.
  public private(set) var count = 0
  /// The counts by page and, in a page, by microsecond.
  private var pages: [Int64: [UInt64]] = [:]

  /// Microseconds in a page.
  private static let pageSize: Int64 = 1024
  /// Ten minutes in microseconds: longer delays count as this one, which bounds the number of pages. No ping waits that
  /// long.
  private static let longest: Int64 = 600_000_000

  /// No delays.
  public init() {}

  /// Counts a delay `times` times.
  /// - Parameter nanoseconds: Rounded half up to a microsecond; clamped to 0 to ten minutes.
  public mutating func add(nanoseconds: Int64, times: Int = 1) {
    guard times > 0 else { return }
    let value = min(max(nanoseconds, 0).saturatingAdding(500) / 1000, Self.longest)
    let (page, index) = value.quotientAndRemainder(dividingBy: Self.pageSize)
    pages[page, default: Array(repeating: 0, count: Int(Self.pageSize))][Int(index)] += UInt64(times)
    count = count.saturatingAdding(times)
  }

  /// The delays at `ranks`, from 1 and in any order, in microseconds; `nil` for a rank that does not exist. It reads the
  /// counts once.
  public func microseconds(atRanks ranks: [Int]) -> [Int64?] {
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

  /// The percentile by nearest rank with its interval at 95 % confidence; `nil` without delays.
  /// - Parameter percent: 1 to 99.
  public func percentile(_ percent: Int) -> Percentile? {
    guard count > 0 else { return nil }
    let interval = RankInterval(count: count, quantile: Double(percent) / 100)
    // An interval without an end gives rank 0, which has no delay.
    let values = microseconds(
      atRanks: [NearestRank.of(percent, count: count), interval.lower ?? 0, interval.upper ?? 0])
    return values[0].map { Percentile(percent: percent, microseconds: $0, lower: values[1], upper: values[2]) }
  }
}
