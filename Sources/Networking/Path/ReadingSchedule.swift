/// Schedules the readings of the route: soon after a change, once for a burst of changes, and at an interval without changes. A pure
/// value: time comes in as an argument.
struct ReadingSchedule: Hashable, Sendable {
  /// A burst ends after this time without a change. A link that comes up causes several changes, milliseconds apart.
  static let quiet: Duration = .milliseconds(50)
  /// The longest time from the first change of a burst to a reading.
  static let longestBurst: Duration = .milliseconds(250)

  private let fallback: Duration
  private var burstBegan: ContinuousClock.Instant?
  /// The time of the next reading; a change can bring it forward.
  private(set) var next: ContinuousClock.Instant

  /// - Parameter fallback: The interval between readings without a change.
  init(fallback: Duration, startingAt now: ContinuousClock.Instant) {
    self.fallback = fallback
    next = now
  }

  /// Applies a change.
  mutating func changed(at now: ContinuousClock.Instant) {
    let began = burstBegan ?? now
    burstBegan = began
    next = min(now + Self.quiet, began + Self.longestBurst)
  }

  /// Whether to read now; if so, sets the next time.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    guard now >= next else { return false }
    burstBegan = nil
    next = now + fallback
    return true
  }
}
