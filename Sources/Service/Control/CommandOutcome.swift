import Driving

/// How a command ended: its exit status (README.md, Use).
public enum CommandOutcome: Int32, Hashable, Sendable {
  /// Done, nothing lost.
  case done = 0
  /// Failed, with the reason in one line.
  case failed = 1
  /// The data is stored safely, but could not be submitted now (EX_TEMPFAIL of sysexits.h).
  case kept = 75
  /// Done and nothing lost, but the drive sent no ping, or the loop made no test, and measured nothing (EX_UNAVAILABLE of sysexits.h).
  case unmeasured = 69

  /// The outcome of a command that recorded a drive: trouble with the data is worse than no pings.
  public func of(_ summaries: [DriveSummary]) -> CommandOutcome {
    self == .done && !summaries.isEmpty && summaries.allSatisfy { $0.silence != nil } ? .unmeasured : self
  }
}
