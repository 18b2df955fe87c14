/// Counts the results of a pass by speed test.
public struct SpeedTestTally: Hashable, Sendable {
  /// Tests that the server has now; messages that a test has no result included.
  public internal(set) var sent = 0
  /// Tests that could not be sent now and stay stored.
  public internal(set) var kept = 0
  /// Tests that the server refused in this pass; they stay stored, and are sent again on command only.
  public internal(set) var quarantined = 0

  /// A tally of nothing.
  public init() {}

  /// The tally of this pass and a later one.
  func followed(by later: SpeedTestTally) -> SpeedTestTally {
    var sum = SpeedTestTally()
    sum.sent = sent + later.sent
    // The later pass has tried them again.
    sum.kept = later.kept
    sum.quarantined = quarantined + later.quarantined
    return sum
  }

  var summary: String? {
    var parts: [String] = []
    if sent > 0 { parts.append("\(sent) sent") }
    if kept > 0 { parts.append("\(kept) kept for later") }
    if quarantined > 0 { parts.append("\(quarantined) refused") }
    return parts.isEmpty ? nil : "speed tests: " + parts.joined(separator: ", ")
  }
}
