/// How long things stay in the store.
public struct Retention: Hashable, Sendable {
  /// What was not sent by then is not sent any more.
  public var maxAge: Duration
  /// What the server has, what it refused, what Wi-Fi touched, and drive logs stay for so long.
  public var keep: Duration

  public init(maxAge: Duration = .seconds(7 * 86_400), keep: Duration = .seconds(30 * 86_400)) {
    self.maxAge = maxAge
    self.keep = keep
  }
}
