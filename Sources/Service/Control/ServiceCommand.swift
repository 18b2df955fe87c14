import Coverage
import Driving

/// A command that an operator sends to the running service.
public enum ServiceCommand: String, Hashable, Sendable, CaseIterable {
  /// Record from now on, regardless of `agent.record`.
  case start
  /// End the drive, and begin none until `start` or `resume`.
  case stop
  /// End the drive; `resume` restores the state before.
  case pause
  /// Undo `pause` or `stop`.
  case resume
}

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

/// The data that `sessions forget` deletes.
public enum ForgetTarget: Hashable, Sendable, CustomStringConvertible {
  /// A session with its fences.
  case session(Int64)
  case speedTest(Int64)

  public var description: String {
    switch self {
    case .session(let id): "session \(id)"
    case .speedTest(let id): "speed test \(id)"
    }
  }

  /// The target as a query of the service's `/forget`.
  var query: String {
    switch self {
    case .session(let id): "session=\(id)"
    case .speedTest(let id): "speed-test=\(id)"
    }
  }

  /// The target of a request to the service.
  /// - Parameter parameter: The value of a query parameter.
  /// - Returns: `nil` without exactly one id.
  init?(query parameter: (String) -> String?) {
    let (session, speedTest) = (parameter("session"), parameter("speed-test"))
    guard session == nil || speedTest == nil, let id = (session ?? speedTest).flatMap({ Int64($0) }) else { return nil }
    self = session == nil ? .speedTest(id) : .session(id)
  }
}

/// A drive has ended, and not all of it could be stored.
package enum RecordingError: Error, CustomStringConvertible {
  /// The disk refused fences to the end.
  /// - Parameter fences: Their number; the others are stored.
  case unsaved(fences: Int, trouble: String)

  package var description: String {
    switch self {
    case .unsaved(let fences, let trouble):
      "\(counted(fences, "fence is", "fences are")) lost because the disk refused them: \(trouble); the others wait for \(Program.name) submit"
    }
  }
}

/// Why a command cannot be carried out, and what to do, in one line.
public struct CommandFailure: Error, Hashable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
