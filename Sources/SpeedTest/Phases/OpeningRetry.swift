/// A fresh connection that ends before the greeting is opened again a few times, after a short wait (spec, edge 5).
struct OpeningRetry: Sendable {
  private var left = 4

  /// ns to wait before the next attempt; `nil`: give up.
  mutating func wait(after error: SpeedTestError, mayRetry: Bool) -> Int64? {
    guard mayRetry, error == .closed, left > 0 else { return nil }
    left -= 1
    return 100_000_000 * Int64(4 - left)
  }
}
