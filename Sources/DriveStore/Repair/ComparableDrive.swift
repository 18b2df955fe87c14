import Coverage

/// A drive in the store whose log may have more of it.
public struct ComparableDrive: Hashable, Sendable, Identifiable {
  public let id: Int64
  /// The path of its log as it was noted; `nil` where that is not known any more.
  public let log: String?
  /// To this the times of the fences relate; `nil` where it is damaged.
  public let started: WallTime?
  public let link: String?
  /// Whether its process has left it unfinished. One that was ended in order was wholly in the store then.
  public let isUnfinished: Bool
  /// Whether its row, or one of its fences, is not as it was written.
  public let hasDamage: Bool
  /// Whether something else hints at a loss.
  public let hasGaps: Bool
  /// Whether some of it is still to be sent.
  public let isWaiting: Bool
}
