/// The time of a test in ns, from any zero, and whether the test was aborted. Both come from outside.
struct TestClock: Sendable {
  let now: @Sendable () -> Int64
  let isAborted: @Sendable () -> Bool
}
