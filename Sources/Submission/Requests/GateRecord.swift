import Coverage
import Foundation
import Logging
import Store

/// Stores the lasting part of the gate's state whenever it changes.
///
/// A failing store delays no request and no pass: the next request tries the write again.
struct GateRecord {
  let store: DriveStore
  let url: String
  let bootID: String
  let logger: Logger
  /// The state that the store has, or that a write is storing; `nil` when the last write failed.
  private var recorded: ServerGate.Lasting?
  private var loggedState: CircuitBreaker.State
  private var writes = OrderedWrites()
  private var isTroubleLogged = false

  init(of gate: ServerGate, in store: DriveStore, url: String, bootID: String, logger: Logger) {
    (self.store, self.url, self.bootID, self.logger) = (store, url, bootID, logger)
    recorded = gate.lasting
    loggedState = gate.breaker.state
  }

  /// Starts to write `gate`. Writes reach the store in the order of these calls.
  /// - Returns: `nil` when the store already has this state.
  mutating func begin(_ gate: ServerGate, at now: Duration) -> Task<Void, any Error>? {
    let lasting = gate.lasting
    guard lasting != recorded else { return nil }
    if loggedState != lasting.breaker.state {
      loggedState = lasting.breaker.state
      logger.notice(
        "circuit breaker: \(loggedState.rawValue)",
        metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.circuitBreaker)])
    }
    recorded = lasting
    return writes.begin { [store, url, bootID] in
      let memory = try JSONEncoder().encode(gate.memory(at: now, bootID: bootID))
      try await store.servers.setGateMemory(String(decoding: memory, as: UTF8.self), at: url)
    }
  }

  /// Must be called with the result of each write.
  mutating func ended(_ result: Result<Void, any Error>) {
    switch result {
    case .success: isTroubleLogged = false
    case .failure(let error):
      recorded = nil
      guard !isTroubleLogged else { return }
      isTroubleLogged = true
      logger.warning(
        "cannot store the circuit breaker's state: \(StoreError.line(error)); retrying with the next request")
    }
  }
}

/// Runs writes one at a time, in the order of the calls to ``begin(_:)``, so that the last value requested is the
/// last one written.
struct OrderedWrites {
  private var last: Task<Void, any Error>?

  /// Starts `write` when the previous one has ended, successfully or not. Cancelling the caller does not cancel the
  /// write.
  mutating func begin(_ write: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
    let task = Task { [last] in
      _ = await last?.result
      try await write()
    }
    last = task
    return task
  }
}
