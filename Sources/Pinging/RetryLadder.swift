/// Growing waits: the first, the second, and then twice the one before, up to the last.
struct RetryLadder: Hashable, Sendable {
  private let first: Duration
  private let second: Duration
  private let last: Duration
  private var step = 0

  init(first: Duration, second: Duration? = nil, last: Duration) {
    self.first = first
    self.second = second ?? first * 2
    self.last = last
  }

  /// The next wait.
  mutating func next() -> Duration {
    defer { step += 1 }
    guard step > 0 else { return min(first, last) }
    // 2^20 times the second wait exceeds every last one.
    return min(second * (1 << min(step - 1, 20)), last)
  }

  /// Starts again with the first wait.
  mutating func reset() { step = 0 }
}
