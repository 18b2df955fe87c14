/// Why an export, or the deletion of a session, cannot begin.
public enum ExportError: Error, Hashable, CustomStringConvertible {
  case noSuchSession(Int64)

  /// The reason and the remedy, in one line.
  public var description: String {
    switch self {
    case .noSuchSession(let id): "there is no session \(id); coverage-probe sessions lists them"
    }
  }
}
