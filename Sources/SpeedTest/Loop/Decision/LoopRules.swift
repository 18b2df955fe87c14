import Coverage

/// The settings of a loop, checked. Both reference apps accept the same ranges.
public struct LoopRules: Hashable, Sendable {
  /// The accepted numbers of tests.
  public static let counts = 1...500
  public static let waits: ClosedRange<Duration> = .seconds(5 * 60)...(.seconds(1440 * 60))
  /// The accepted distances in metres.
  public static let distances: ClosedRange<Double> = 25...10_000
  /// The longest duration of a loop, sleep and power loss included.
  public static let longestDuration = Duration.seconds(48 * 3600)
  /// A running test is aborted after this time. The test's own deadline is far shorter.
  static let testLimit = Duration.seconds(10 * 60)
  static let noticeSpacing = Duration.seconds(10 * 60)

  /// What a start of the program does with a loop that is not over.
  public enum AfterRestart: String, Hashable, Sendable, CaseIterable {
    /// The loop goes on, unless one of its limits has passed.
    case resume
    case end
  }

  /// The number of tests, failed and aborted ones included.
  public let count: Int
  /// The time from the start of a test to the next one; `nil`: time does not count.
  public let every: Duration?
  /// The distance in metres from the start of a test to the next one; `nil`: distance does not count.
  public let distance: Double?
  /// The longest duration of the loop, from its start; up to ``longestDuration``.
  public let duration: Duration
  public let afterRestart: AfterRestart
  /// Whether tests start on other links than those of mobile networks.
  public let allowsOtherLinks: Bool
  /// The data that tests may use.
  public let data: DataLimits

  public init(
    count: Int = 50, every: Duration? = .seconds(15 * 60), distance: Double? = 250,
    duration: Duration = longestDuration, afterRestart: AfterRestart = .resume,
    allowsOtherLinks: Bool = false, data: DataLimits = .none
  ) throws(Fault) {
    guard Self.counts.contains(count) else { throw .count(count) }
    if let every, !Self.waits.contains(every) { throw .every(every) }
    if let distance, !Self.distances.contains(distance) { throw .distance(distance) }
    guard duration > .zero, duration <= Self.longestDuration else { throw .duration(duration) }
    guard count == 1 || every != nil || distance != nil else { throw .endless }
    (self.count, self.every, self.distance, self.duration) = (count, every, distance, duration)
    (self.afterRestart, self.allowsOtherLinks, self.data) = (afterRestart, allowsOtherLinks, data)
  }

  /// A setting outside of its range.
  public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
    case count(Int)
    case every(Duration)
    case distance(Double)
    case duration(Duration)
    /// Neither time nor distance starts the second test.
    case endless

    /// One line: the wrong value and the accepted range.
    public var description: String {
      switch self {
      case .count(let count): "the loop has \(counted(count, "test")): set 1 to 500"
      case .every(let every): "the loop waits \(every.inSeconds) s between tests: set 5 to 1440 minutes"
      case .distance(let distance): "the loop's distance is \(distance) m: set 25 to 10000 m"
      case .duration(let duration): "the loop lasts \(duration.inSeconds) s: set more than 0 s, at most 48 hours"
      case .endless: "the loop has neither a waiting time nor a distance, so its second test never starts: set one"
      }
    }
  }
}
