import Coverage

/// The ended tests of a loop.
public struct LoopTally: Hashable, Sendable, Codable {
  /// Tests with a result.
  public internal(set) var completed = 0
  /// Tests without a result.
  public internal(set) var failed = 0
  /// Aborted tests.
  public internal(set) var aborted = 0

  /// All ended tests.
  public var total: Int { completed.saturatingAdding(failed).saturatingAdding(aborted) }

  mutating func count(_ result: LoopResult) {
    switch result {
    case .completed: completed = completed.saturatingAdding(1)
    case .failed: failed = failed.saturatingAdding(1)
    }
  }

  mutating func countAbort() { aborted = aborted.saturatingAdding(1) }
}
