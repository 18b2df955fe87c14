import Driving

/// Why a service could not do what a command asked of it, in its words.
struct ServiceRefusal: Error, CustomStringConvertible {
  let description: String
}

/// How a command ended (design.md, contract 1).
public enum CommandOutcome: Int32, Hashable, Sendable {
  /// Done, nothing lost.
  case done = 0
  case failed = 1
  /// The data is safely kept, but could not be submitted now.
  case kept = 75
  /// Done, nothing lost, but the drive sent no ping: it measured nothing (EX_UNAVAILABLE of sysexits.h).
  case unmeasured = 69

  /// The outcome of a command that recorded a drive, with what came of its links: trouble with the data is worse than no pings.
  func of(_ summaries: [DriveSummary]) -> CommandOutcome {
    self == .done && !summaries.isEmpty && summaries.allSatisfy { $0.silence != nil } ? .unmeasured : self
  }
}
