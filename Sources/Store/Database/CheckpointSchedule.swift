/// Decides when the write-ahead log is copied into the store. SQLite's own rule counts pages: at a device's rate the
/// log would contain hours of data.
struct CheckpointSchedule {
  /// About ten pages are copied each time; about 150 are written to the log between two copies.
  private static let interval = Duration.seconds(120)
  private var last: ContinuousClock.Instant

  init(startingAt now: ContinuousClock.Instant) { last = now }

  /// Whether the last copy is old enough; then the next one is due an interval after `now`.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    guard now - last >= Self.interval else { return false }
    last = now
    return true
  }
}
