/// Round trips of the coverage pings in one part of a speed test: without load, and under it.
public struct SpeedTestDelay: Hashable, Sendable, Codable {
  /// The parts of a test that have a figure.
  public enum Part: String, Hashable, Sendable, Codable, CaseIterable {
    /// The 10 s before the test.
    case idle
    /// Under the load of the download.
    case download
    /// Under the load of the upload.
    case upload
  }

  /// The part.
  public let part: Part
  /// Pings that were sent in it and have an outcome.
  public let pings: Int
  /// Pings without an answer in time.
  public let lost: Int
  /// The median of the answered ones in ns; `nil` when none was answered.
  public let median: Int64?
  /// The 95th percentile of the answered ones in ns (nearest rank); `nil` for fewer than ``NearestRank/fewestFor95``.
  public let percentile95: Int64?

  /// Figures from round trips in ns.
  public init(_ part: Part, roundTrips: [Int64], lost: Int) {
    self.part = part
    pings = roundTrips.count.saturatingAdding(lost)
    self.lost = lost
    let sorted = roundTrips.sorted()
    median = sorted.nearestRank(50)
    percentile95 = sorted.count >= NearestRank.fewestFor95 ? sorted.nearestRank(95) : nil
  }
}
