/// Calls `deliver` now and once a second until the task is cancelled; seconds that the host slept through are left out.
func eachSecond(_ deliver: () -> Void) async { await each(.seconds(1), deliver) }

/// Calls `deliver` now and once a `period` until the task is cancelled; those that the host slept through are left out.
func each(_ period: Duration, _ deliver: () -> Void) async {
  let clock = ContinuousClock()
  var next = clock.now
  while !Task.isCancelled {
    deliver()
    next = max(next + period, clock.now)
    do { try await clock.sleep(until: next, tolerance: .milliseconds(20)) } catch { return }
  }
}
