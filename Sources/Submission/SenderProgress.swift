/// How far the sender is, for a watchdog.
public struct SenderProgress: Hashable, Sendable {
  /// It waits for the next pass.
  public let isIdle: Bool
  /// Grows with each request, and with each pass that ends.
  public let steps: UInt64
}
