import DriveStore
import Foundation
import Logging

/// Persists what of a gate outlives the process, whenever that has changed.
///
/// A store that fails keeps no request from leaving, and no pass from ending: the next request tries the write again.
struct GateRecord {
  private let store: DriveStore
  private let url: String
  private let bootID: String
  private let logger: Logger
  /// The state that the store has, or is being given; `nil` when the last write failed.
  private var recorded: ServerGate.Lasting?
  private var writes = OrderedWrites()
  private var isTroubleLogged = false

  /// - Parameters:
  ///   - gate: As the store has it.
  ///   - url: Of the control server that the gate is for.
  init(of gate: ServerGate, in store: DriveStore, url: String, bootID: String, logger: Logger) {
    (self.store, self.url, self.bootID, self.logger) = (store, url, bootID, logger)
    recorded = gate.lasting
  }

  /// Starts to write `gate`. Writes reach the store in the order in which they were started.
  /// - Returns: `nil` when the store has this state already.
  mutating func begin(_ gate: ServerGate, at now: Duration) -> Task<Void, any Error>? {
    let lasting = gate.lasting
    guard lasting != recorded else { return nil }
    if let recorded, recorded.breaker.state != lasting.breaker.state {
      logger.notice("circuit breaker: \(lasting.breaker.state.rawValue)")
    }
    recorded = lasting
    return writes.begin { [store, url, bootID] in
      let memory = try JSONEncoder().encode(gate.memory(at: now, bootID: bootID))
      try await store.servers.setBreakerMemory(String(decoding: memory, as: UTF8.self), at: url)
    }
  }

  /// To be called with the result of each write.
  mutating func ended(_ result: Result<Void, any Error>) {
    switch result {
    case .success: isTroubleLogged = false
    case .failure(let error):
      recorded = nil
      guard !isTroubleLogged else { return }
      isTroubleLogged = true
      logger.warning(
        "the store does not take the circuit breaker's state: \(error); trying again with the next request")
    }
  }
}
