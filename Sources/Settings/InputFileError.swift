/// A file that the operator named and that cannot be read.
public struct InputFileError: Error, Hashable, CustomStringConvertible {
  public let path: String
  public let reason: String

  public var description: String { "cannot read \(path): \(reason)" }
}
