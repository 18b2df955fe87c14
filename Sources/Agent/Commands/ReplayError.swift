/// Why a drive log cannot be replayed.
public struct ReplayError: Error, Hashable, CustomStringConvertible {
  /// The path of the drive log.
  public let path: String
  /// The reason, without the path.
  public let reason: String

  /// Path and reason, in one line.
  public var description: String { "\(path): \(reason)" }
}
