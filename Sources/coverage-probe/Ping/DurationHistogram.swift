import Histogram

/// The distribution of a duration: exact extremes and mean, and percentiles with limited precision, in bounded
/// memory. The histogram starts with the first value, and is no longer than the greatest value needs.
struct DurationHistogram {
  private(set) var count = 0
  /// In nanoseconds; meaningless without values.
  private(set) var least = Int64.max
  /// In nanoseconds; meaningless without values.
  private(set) var greatest = Int64.min
  private var sum = 0.0
  /// One minute in nanoseconds, beyond any sensible timeout. Percentiles count greater values as this; the extremes and the mean
  /// are exact.
  private static let highest: UInt64 = 60_000_000_000
  private let digits: SignificantDigits
  /// `nil` before the first value: without a one-way reflector, two of a target's histograms stay empty.
  private var histogram: Histogram<UInt32>?

  /// - Parameter isCoarse: Whether percentiles have two significant digits, at most 0.8 % too high, in about 10 KB; else three, in about
  ///   60 KB for durations near 30 ms.
  init(isCoarse: Bool = false) { digits = isCoarse ? .two : .three }

  /// - Parameter nanoseconds: For percentiles, a negative value counts as 0.
  mutating func record(_ nanoseconds: Int64) {
    count += 1
    least = min(least, nanoseconds)
    greatest = max(greatest, nanoseconds)
    sum += Double(nanoseconds)
    if histogram == nil { histogram = Histogram(numberOfSignificantValueDigits: digits) }
    histogram?.record(min(Self.highest, UInt64(max(0, nanoseconds))))
  }

  /// In nanoseconds; `nil` without values.
  var mean: Int64? { count > 0 ? Int64((sum / Double(count)).rounded()) : nil }

  /// The value at or below which `percent` of all values lie, in nanoseconds; `nil` without values.
  func percentile(_ percent: Double) -> Int64? {
    guard let histogram else { return nil }
    return min(greatest, max(least, Int64(histogram.valueAtPercentile(percent))))
  }
}
