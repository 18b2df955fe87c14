/// Why an export, or a deletion, cannot begin.
public enum ExportError: Error, Hashable, CustomStringConvertible {
  /// The store has no session with this id.
  case noSuchSession(Int64)
  /// The store has no speed test with this id.
  case noSuchSpeedTest(Int64)
  /// A speed test that is being measured cannot be deleted.
  case runningSpeedTest(Int64)

  /// The reason and the remedy, in one line.
  public var description: String {
    switch self {
    case .noSuchSession(let id): "there is no session \(id); coverage-probe sessions lists them"
    case .noSuchSpeedTest(let id): "there is no speed test \(id); coverage-probe sessions --speed-tests lists them"
    case .runningSpeedTest(let id): "speed test \(id) is running; stop it first, or wait for its end"
    }
  }
}
