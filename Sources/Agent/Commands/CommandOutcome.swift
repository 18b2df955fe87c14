/// How a command ended (design.md, contract 1).
public enum CommandOutcome: Int32, Hashable, Sendable {
  /// Done, nothing lost.
  case done = 0
  case failed = 1
  /// The data is safely kept, but could not be submitted now.
  case kept = 75
}
