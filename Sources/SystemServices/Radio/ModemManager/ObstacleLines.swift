/// Decides when the log says why there is no technology, and when that reason is over. ``ModemManagerClient`` asks it for
/// each new reading.
struct ObstacleLines: Hashable, Sendable {
  /// A line for the log.
  enum Line: Hashable, Sendable {
    /// There is an obstacle; its text.
    case began(String)
    /// The obstacle that the last line named is over.
    case ended
  }

  private var complaints = Complaints()
  /// The obstacle of the last reading, named or not.
  private var last: String?
  /// Whether the log has named an obstacle that is not over.
  private var isNamed = false

  /// The line that belongs to a reading; `nil` for none.
  ///
  /// Only an obstacle that the log has named ends with a line, so that a modem at the edge of a network does not fill the log.
  mutating func line(for obstacle: String?, at now: ContinuousClock.Instant) -> Line? {
    guard obstacle != last else { return nil }
    last = obstacle
    guard let obstacle else {
      defer { isNamed = false }
      return isNamed ? .ended : nil
    }
    guard complaints.isNew(obstacle, at: now) else { return nil }
    isNamed = true
    return .began(obstacle)
  }
}
