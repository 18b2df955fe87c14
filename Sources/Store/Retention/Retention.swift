/// How long data stays in the store.
public struct Retention: Hashable, Sendable {
  /// Unsent fences older than this are deleted, if two clocks agree on the time.
  public var maxAge: Duration
  /// How long sent, refused and Wi-Fi fences and drive logs stay.
  public var keep: Duration

  /// By default 7 and 30 days.
  public init(maxAge: Duration = .seconds(7 * 86_400), keep: Duration = .seconds(30 * 86_400)) {
    self.maxAge = maxAge
    self.keep = keep
  }
}
