/// When the network is looked at: soon after the kernel has told of changes, once for a burst of them, and now and then in any
/// case. A pure value: time comes in as an argument.
struct ReadingSchedule: Hashable, Sendable {
  /// A burst is over when nothing more has changed for this long. A link that comes up changes several things, milliseconds apart.
  static let quiet: Duration = .milliseconds(50)
  /// In a burst that does not end, readings are no further apart.
  static let longestBurst: Duration = .milliseconds(250)

  private let fallback: Duration
  private var burstBegan: ContinuousClock.Instant?
  /// When ``isDue(at:)`` says so, unless there is a change before.
  private(set) var next: ContinuousClock.Instant

  /// - Parameter fallback: Between readings when no change is told of.
  init(fallback: Duration, startingAt now: ContinuousClock.Instant) {
    self.fallback = fallback
    next = now
  }

  /// Something has changed.
  mutating func changed(at now: ContinuousClock.Instant) {
    let began = burstBegan ?? now
    burstBegan = began
    next = min(now + Self.quiet, began + Self.longestBurst)
  }

  /// Whether to look now; then the next time is set.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    guard now >= next else { return false }
    burstBegan = nil
    next = now + fallback
    return true
  }
}
