import Coverage
import Store

/// Which sessions a pass sends. A pure value.
public enum PassMode: Hashable, Sendable, CustomStringConvertible {
  /// Sessions that ended in order: before a request for a test, after a drive of the service, periodically, and on command.
  case warm
  /// As warm, plus sessions that an earlier process left unfinished, plus fences without a session: at the start of a
  /// process, until one such pass leaves none (``PassSchedule``), and on command.
  case cold
  /// The sessions of this drive, which has just ended: `record` only.
  case drive(Int64)
  /// The fences that the disk refuses, from memory.
  case memory
  /// As cold, plus sessions that the server refused earlier.
  case quarantined

  /// The mode as log lines name it.
  public var description: String {
    switch self {
    case .warm: "warm"
    case .cold: "cold"
    case .drive(let id): "drive \(id)"
    case .memory: "memory"
    case .quarantined: "cold, with quarantined sessions"
    }
  }

  /// Whether the pass includes sessions that an earlier process left unfinished.
  var isCold: Bool { self == .cold || self == .quarantined }

  /// The states of the batches to send.
  var states: [Batch.State] { [.waiting, .sending] + (self == .quarantined ? [.quarantined] : []) }

  /// The sessions to send, and for each other session with fences to send the reason why it is skipped.
  /// - Parameters:
  ///   - all: All sessions with unsent fences.
  ///   - running: The lowest id of the running drives, which are never sent.
  func choose(
    from all: [StoredSession], running: Int64?
  ) -> (chosen: [StoredSession], skipped: [(session: StoredSession, reason: String)]) {
    var chosen: [StoredSession] = []
    var skipped: [(StoredSession, String)] = []
    for session in all where session.isWaiting || session.quarantinedFences > 0 {
      if let reason = reasonToSkip(session, running: running) {
        skipped.append((session, reason))
      } else {
        chosen.append(session)
      }
    }
    return (chosen, skipped)
  }

  private func reasonToSkip(_ stored: StoredSession, running: Int64?) -> String? {
    if let running, stored.drive >= running { return "is being recorded" }
    if case .drive(let id) = self, stored.drive != id { return "is of another drive" }
    if stored.session.finalized == nil { return "is unfinished" }
    if !stored.isWaiting, self != .quarantined { return "is quarantined" }
    return nil
  }
}

/// Why a pass ends before it has sent everything.
enum PassEnd: Error {
  /// No request may leave now.
  case held(PassReport.Hold)
  /// The server cannot accept anything now.
  case failed(ServerFailure)
  /// The pass was cancelled, possibly during a request.
  case stopped(ServerFailure?)

  /// The end that an error of a step means; `nil` for errors of the store, which end the pass without a report.
  /// - Parameter isCancelled: Whether the pass was cancelled: then a failed request says nothing about the server.
  init?(_ error: any Error, isCancelled: Bool) {
    switch error {
    case let end as PassEnd: self = end
    case let hold as ServerGate.Hold: self = .held(.gate(hold))
    case let failure as ServerFailure: self = isCancelled ? .stopped(failure) : .failed(failure)
    case is CancellationError: self = .stopped(nil)
    default: return nil
    }
  }
}

/// The requests that sending a batch needs, by their paths.
enum RequestStep: String, Hashable, Sendable {
  case settings, coverageRequest, coverageResult, history, result
}

enum DeliveryOrder {
  /// The newest batches first, by their first fences. Batches that met trouble follow, the least recently sent first.
  /// The store counts the trouble, so the order survives a restart.
  static func sorted(_ batches: [Batch]) -> [Batch] {
    batches.sorted { left, right in
      switch (left.troubles > 0, right.troubles > 0) {
      case (false, false): (left.earliest, left.id) > (right.earliest, right.id)
      case (true, true): (left.sent ?? left.earliest, left.id) < (right.sent ?? right.earliest, right.id)
      case (false, true): true
      case (true, false): false
      }
    }
  }
}
