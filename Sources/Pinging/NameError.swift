import Coverage
import Glibc

/// A name cannot be resolved.
public struct NameError: Error, Hashable, CustomStringConvertible {
  /// The name.
  public let name: String
  /// The resolver's reason.
  public let reason: String

  /// Whether no name server answered, so that nothing is known of the name.
  public var isTemporary: Bool { reason == String(cString: gai_strerror(EAI_AGAIN)) }

  /// One line for the operator.
  public var description: String { "cannot find the address of \(ForeignText.clean(name)): \(reason)" }
}
