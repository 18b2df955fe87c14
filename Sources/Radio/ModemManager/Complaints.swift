/// Limits each complaint to one line in ten minutes, by its text: at the edge of a network, a modem searches and registers in
/// turns all day.
struct Complaints: Hashable, Sendable {
  static let interval: Duration = .seconds(600)

  /// When the log last had each complaint.
  private var last: [String: ContinuousClock.Instant] = [:]

  /// Whether to log the complaint now; if so, its ten minutes start again.
  mutating func isNew(_ complaint: String, at now: ContinuousClock.Instant) -> Bool {
    if let time = last[complaint], now < time + Self.interval { return false }
    last[complaint] = now
    return true
  }
}
