/// Decisions of a pass that wait until a second clock confirms the host's clock.
struct ClockDoubts: Hashable, Sendable {
  /// Fences in the queue that are too old to be sent, by a clock that no other clock confirms.
  var oldFences = 0
  /// Whether drives would be dated again by a clock that no other clock confirms.
  var hasNewDates = false
  /// Whether the pass has asked the server for the time because of such new dates.
  var hasAskedForTime = false
}
