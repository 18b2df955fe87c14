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
  ) throws(LoopFault) {
    func require(_ isPossible: Bool, _ fault: @autoclosure () -> String) throws(LoopFault) {
      if !isPossible { throw LoopFault(description: fault()) }
    }
    try require(Self.counts.contains(count), "the loop has \(counted(count, "test")): set 1 to 500")
    if let every {
      try require(
        Self.waits.contains(every), "the loop waits \(every.inSeconds) s between tests: set 5 to 1440 minutes")
    }
    if let distance {
      try require(Self.distances.contains(distance), "the loop's distance is \(distance) m: set 25 to 10000 m")
    }
    try require(
      duration > .zero && duration <= Self.longestDuration,
      "the loop lasts \(duration.inSeconds) s: set more than 0 s, at most 48 hours")
    try require(
      count == 1 || every != nil || distance != nil,
      "the loop has neither a waiting time nor a distance, so its second test never starts: set one")
    (self.count, self.every, self.distance, self.duration) = (count, every, distance, duration)
    (self.afterRestart, self.allowsOtherLinks, self.data) = (afterRestart, allowsOtherLinks, data)
  }
}
