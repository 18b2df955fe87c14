/// Calls `deliver` now and once a second until the task is cancelled; seconds that the host slept through are left out.
func eachSecond(_ deliver: () -> Void) async {
  let clock = ContinuousClock()
  var next = clock.now
  while !Task.isCancelled {
    deliver()
    next = max(next + .seconds(1), clock.now)
    do { try await clock.sleep(until: next, tolerance: .milliseconds(20)) } catch { return }
  }
}
