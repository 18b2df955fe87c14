/// Decisions of a pass that wait for a second opinion on the host's clock.
struct ClockDoubts: Hashable, Sendable {
  /// Fences in the queue that look too old to be sent, by a clock that no other one has confirmed.
  var oldFences = 0
  /// Whether drives would be dated again by a clock that no other one has confirmed.
  var hasNewDates = false
  /// Whether the server was asked for the time because of that.
  var hasAskedForTime = false
}
