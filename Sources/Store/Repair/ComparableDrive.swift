import Coverage

/// A stored drive whose log may have more fences.
public struct ComparableDrive: Hashable, Sendable, Identifiable {
  /// Its id in the store.
  public let id: Int64
  /// The stored path of its log; `nil` when it is unknown.
  public let log: String?
  /// The start that the times of its fences relate to; `nil` when it is damaged.
  public let started: WallTime?
  /// The measured link; `nil` when the drive had one link only, or when the row is damaged.
  public let link: String?
  /// Whether it was interrupted. A drive that ended in order was completely in the store.
  public let isUnfinished: Bool
  /// Whether its row, or one of its fences, is damaged.
  public let hasDamage: Bool
  /// Whether there is any other sign of a loss.
  public let hasGaps: Bool
  /// Whether it has unsent fences.
  public let isWaiting: Bool
}
