import Foundation

/// Waits for sockets within the limits of a test or of a part of it, and sees an abort within 0.1 s.
struct Waiting: Sendable {
  let clock: TestClock
  /// ns of the clock at which the test, or its part, ends: every wait throws then.
  let deadline: Int64

  /// - Throws: ``SpeedTestError/aborted``, or ``SpeedTestError/timeout(_:)`` at the end of the whole test.
  func check() throws(SpeedTestError) {
    if clock.isAborted() { throw .aborted }
    guard clock.now() < deadline else { throw .timeout("the whole test") }
  }

  /// Waits for an event of poll. False: not until `time`, ns of the clock; `.max` waits until the deadline. An error or an end of
  /// the connection counts as an event: the next read or write reports it.
  /// - Throws: ``SpeedTestError/aborted``, or ``SpeedTestError/timeout(_:)`` at the end of the whole test.
  func wait(on descriptor: Int32, for events: Int16, until time: Int64) throws(SpeedTestError) -> Bool {
    while true {
      try check()
      let now = clock.now()
      var entry = pollfd(fd: descriptor, events: events, revents: 0)
      // Poll in slices, so that an abort is seen. With no time left, poll once: bytes that have arrived count.
      let slice = max(0, min(time - now, deadline - now, 100_000_000))
      let code = poll(&entry, 1, Int32((slice + 999_999) / 1_000_000))
      if code > 0 { return true }
      if code < 0, errno != EINTR { throw .unreachable(String(cString: strerror(errno))) }
      if now >= time { return false }
    }
  }
}
