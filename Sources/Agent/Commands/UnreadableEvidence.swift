/// Why a file of a verification cannot be read.
public struct UnreadableEvidence: Error, Hashable, CustomStringConvertible {
  /// The path of the file.
  public let path: String
  /// The reason, possibly with the path.
  public let reason: String

  /// Path and reason, in one line.
  public var description: String { reason.contains(path) ? reason : "\(path): \(reason)" }
}
