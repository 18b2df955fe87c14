import Coverage

/// A name cannot be resolved.
public struct NameError: Error, Hashable, CustomStringConvertible {
  /// The name.
  public let name: String
  /// The resolver's reason.
  public let reason: String

  /// One line for the operator.
  public var description: String { "cannot find the address of \(ForeignText.clean(name)): \(reason)" }
}
