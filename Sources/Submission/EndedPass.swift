import Coverage

/// A pass that is over.
public struct EndedPass: Hashable, Sendable {
  public let ended: WallTime
  public let report: Report
}
