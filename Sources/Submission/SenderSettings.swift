import Coverage
import Store

/// The settings of a ``Sender``.
public struct SenderSettings: Hashable, Sendable {
  /// How long data stays in the store.
  public var retention = Retention()
  /// How much data stays in the store.
  public var quota = Quota()
  /// Fences without a session are sent when they are older than this.
  public var legacyThreshold: Duration = .seconds(15 * 60)
  /// The waits before requests.
  public var gate = ServerGate.Policy()
  /// The most fences in one request.
  var fencesPerRequest = 400

  /// The default settings.
  public init() {}
}
