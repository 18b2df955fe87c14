/// Limits each complaint to one line in ten minutes, by its text, and counts the others: at the edge of a network, a modem searches and
/// registers in turns all day, and a program can print the same nonsense without end.
struct Complaints: Hashable, Sendable {
  static let interval: Duration = .seconds(600)

  private struct Complaint: Hashable {
    /// When the log last had it.
    var line: ContinuousClock.Instant
    /// How often it was made since.
    var count = 0
  }

  private var complaints: [String: Complaint] = [:]

  /// Whether to log the complaint now; if so, its ten minutes start again.
  mutating func isNew(_ complaint: String, at now: ContinuousClock.Instant) -> Bool {
    count(complaint, 1, at: now) != nil
  }

  /// - Parameter times: How often the complaint is made now.
  /// - Returns: If the log is to have it now: how often it was made since the log last had it. Its ten minutes start again then.
  mutating func count(_ complaint: String, _ times: Int, at now: ContinuousClock.Instant) -> Int? {
    guard let known = complaints[complaint] else {
      complaints[complaint] = Complaint(line: now)
      return times
    }
    let count = known.count + times
    guard now >= known.line + Self.interval else {
      complaints[complaint]?.count = count
      return nil
    }
    complaints[complaint] = Complaint(line: now)
    return count
  }

  /// The complaints of which the log does not have all, and how often it lacks them, in order of their text.
  var unsaid: [(complaint: String, count: Int)] {
    complaints.filter { $0.value.count > 0 }.map { ($0.key, $0.value.count) }.sorted { $0.0 < $1.0 }
  }
}
