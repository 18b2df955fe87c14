import ControlServer

/// Why a pass ends before all is sent.
enum PassEnd: Error {
  /// No request may leave now.
  case held(Report.Hold)
  /// The server cannot take anything now.
  case failed(ServerFailure)
  /// The pass was cancelled, perhaps in mid-request.
  case stopped(ServerFailure?)

  /// The end that an error of a step means; `nil` for the store's errors, which end the pass without a report.
  /// - Parameter isCancelled: Whether the pass was cancelled: a request that fails then says nothing about the server.
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
