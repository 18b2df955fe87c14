/// A fresh connection that ends before the greeting is opened again up to four times, after 0.1, 0.2, 0.3 and 0.4 s (docs/protocol.md, edge
/// 5: the C server closes some connections by mistake).
struct OpeningRetry: Sendable {
  private var left = 4

  /// ns to wait before the next attempt; `nil`: give up.
  /// - Parameter mayRetry: Whether the connection was still fresh (``Conversation/mayRetry``).
  mutating func wait(after error: SpeedTestError, mayRetry: Bool) -> Int64? {
    guard mayRetry, error == .closed, left > 0 else { return nil }
    left -= 1
    return 100_000_000 * Int64(4 - left)
  }
}
