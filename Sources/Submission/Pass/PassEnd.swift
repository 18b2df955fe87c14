/// Why a pass ends before it has sent everything.
enum PassEnd: Error {
  /// No request may leave now.
  case held(PassReport.Hold)
  /// The server cannot accept anything now.
  case failed(ServerFailure)
  /// The pass was cancelled, possibly during a request.
  case stopped(ServerFailure?)

  /// The end that an error of a step means; `nil` for errors of the store, which end the pass without a report.
  /// - Parameters:
  ///   - error: Thrown by a step.
  ///   - isCancelled: Whether the pass was cancelled: then a failed request says nothing about the server.
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
