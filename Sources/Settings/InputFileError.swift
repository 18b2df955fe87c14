/// A file that the operator named and that cannot be read.
public struct InputFileError: Error, Hashable, CustomStringConvertible {
  /// The path that the operator gave.
  public let path: String
  /// The reason, without the path.
  public let reason: String

  /// Path and reason, in one line.
  public var description: String { "cannot read \(path): \(reason)" }
}
