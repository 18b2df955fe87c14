/// The troubles that the log already has since pings began on a test. A pure value.
struct TestTroubles: Hashable, Sendable {
  /// Limits the lines: an operator does not read more different reasons than this.
  private static let most = 16
  private var logged: Set<String> = []

  /// - Returns: Whether the log does not have `trouble` yet.
  mutating func isNews(_ trouble: TestTrouble) -> Bool {
    logged.count < Self.most && logged.insert(trouble.subject).inserted
  }

  /// Pings began on a test: the next trouble is news again.
  mutating func end() { logged.removeAll() }
}
