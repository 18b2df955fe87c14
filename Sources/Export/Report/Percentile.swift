/// A percentile of delays, by nearest rank, or of differences of delays; with its interval by order statistics
/// (``RankInterval``).
public struct Percentile: Hashable, Sendable {
  /// Which one, 1 to 99.
  public let percent: Int
  /// The value; negative only for a difference.
  public let microseconds: Int64
  /// The lower end of its interval at 95 % confidence; `nil` when the delays are too few for one.
  public let lower: Int64?
  /// The upper end of that interval; `nil` when the delays are too few for one.
  public let upper: Int64?
}
