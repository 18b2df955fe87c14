import Coverage
import DriveStore

/// How a sender behaves.
public struct SenderSettings: Hashable, Sendable {
  public var retention = Retention()
  public var quota = Quota()
  /// Fences without a session are sent when they are older than this.
  public var legacyThreshold: Duration = .seconds(15 * 60)
  public var gate = ServerGate.Policy()
  /// The most fences of one request.
  public var fencesPerRequest = 400

  public init() {}
}
