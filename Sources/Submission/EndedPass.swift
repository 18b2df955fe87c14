import Coverage

/// A finished pass.
public struct EndedPass: Hashable, Sendable {
  /// When it ended, by the ruling clock.
  public let ended: WallTime
  /// Its result.
  public let report: PassReport
}
