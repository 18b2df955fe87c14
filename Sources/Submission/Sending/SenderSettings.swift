import Store

/// How a ``Sender`` keeps stored data, and how it waits between requests.
public struct SenderSettings: Hashable, Sendable {
  /// How long data stays in the store.
  public var retention = Retention()
  /// How much data stays in the store.
  public var quota = Quota()
  /// Fences without a session are sent when they are older than this.
  public var legacyThreshold: Duration = .seconds(15 * 60)
  /// The waits before requests.
  public var gate = ServerGate.Policy()
  var fencesPerRequest = 400

  public init() {}
}
