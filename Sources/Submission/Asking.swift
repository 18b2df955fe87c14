import ControlServer
import DriveStore
import Foundation
import Logging

/// How requests pass ``ServerGate``: those of passes, and those beside them, such as a drive's for a test.
extension Sender {
  /// No request may leave now.
  public struct Held: Error, Hashable, CustomStringConvertible {
    public let hold: ServerGate.Hold

    /// Until one may.
    public var wait: Duration { hold.wait }

    public var description: String { "\(hold)" }
  }

  // MARK: Beside the passes

  /// Runs `body`, one request to the control server, if the gate lets it leave. When the server has forgotten this device, the device
  /// registers again, and `body` runs once more.
  /// - Parameter body: Takes the client UUID.
  /// - Throws: ``Held``; `ControlServer.ServerFailure`; what `body` throws.
  public func ask<Answer: Sendable>(_ body: @Sendable (_ clientUUID: String) async throws -> Answer) async throws
    -> Answer
  {
    do {
      return try await askOnce(body)
    } catch let failure as ServerFailure where Verdict(failure) == .unknownClient {
      logger.notice("the control server does not know this device any more; registering again")
      await registration.doubt()
      return try await askOnce(body)
    }
  }

  private func askOnce<Answer: Sendable>(
    _ body: @Sendable (_ clientUUID: String) async throws -> Answer
  ) async throws -> Answer {
    var call = try await leave(with: nil, .commanded)
    do {
      let client = try await registration.clientUUID { [call] in try await self.check(call) }
      // The registration may have taken long.
      call = try await leave(with: call, .commanded)
      let answer = try await body(client)
      await end(call, .success)
      return answer
    } catch {
      await end(call, Self.outcome(of: error))
      throw error
    }
  }

  // MARK: Of passes

  /// Runs one request of a pass, if the gate lets it leave.
  /// - Throws: ``Held``, `ControlServer.ServerFailure`, GRDB's `DatabaseError`, `CancellationError`
  func request<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
    call = try await leave(with: call, .commanded)
    defer { timekeeper.settle() }
    do {
      return try await body()
    } catch let failure as ServerFailure {
      gate.heard(failure, at: clock.boot())
      if case .tooManyRequests = failure { await endCall(.failed(failure)) }
      throw failure
    }
  }

  /// The client UUID for a request of a pass; the device registers first where that is due.
  func client() async throws -> String {
    try await request { try await registration.clientUUID { try await self.checkPass() } }
  }

  /// Waits until a pass may begin.
  /// - Throws: ``Held``, `CancellationError`
  func begin(_ urgency: ServerGate.Urgency) async throws {
    call = try await leave(with: call, urgency)
  }

  func endCall(_ outcome: ServerGate.Outcome) async {
    guard let ended = call else { return }
    call = nil
    await end(ended, outcome)
  }

  // MARK: The gate

  /// Asks the gate, and asks again after each suspension: another request may have met 429 meanwhile.
  /// - Parameter held: A call that goes on if the gate still allows it.
  /// - Returns: A call whose next request may leave now.
  /// - Throws: ``Held``, `CancellationError`
  private func leave(with held: ServerGate.Call?, _ urgency: ServerGate.Urgency) async throws -> ServerGate.Call {
    var held = held
    while true {
      if let held, gate.allows(held, at: clock.boot()) { return held }
      switch gate.ask(urgency, at: clock.boot(), random: clock.random()) {
      case .leave(let call):
        held = call
        await rememberGate()
      case .spread(let wait): try await waitForSpread(wait)
      case .held(let hold): throw Held(hold: hold)
      }
    }
  }

  private func check(_ call: ServerGate.Call) throws {
    guard !gate.allows(call, at: clock.boot()) else { return }
    throw Held(hold: gate.hold(.commanded, at: clock.boot()) ?? .breaker(.zero))
  }

  private func checkPass() throws { if let call { try check(call) } }

  private func waitForSpread(_ duration: Duration) async throws {
    let wait = Task { [clock] in try await clock.sleep(duration) }
    spreadWait = wait
    _ = await withTaskCancellationHandler {
      await wait.result
    } onCancel: {
      wait.cancel()
    }
    spreadWait = nil
    try Task.checkCancellation()
  }

  private func end(_ call: ServerGate.Call, _ outcome: ServerGate.Outcome) async {
    gate.end(call, outcome, at: clock.boot(), random: clock.random())
    await rememberGate()
  }

  private static func outcome(of error: any Error) -> ServerGate.Outcome {
    guard !Task.isCancelled, let failure = error as? ServerFailure else { return .cancelled }
    return .failed(failure)
  }

  /// Writes down what outlives the process, if it is not on disk yet. A store that fails keeps no request from leaving, and no pass
  /// from ending: the write is tried again with the next request.
  func rememberGate() async {
    let lasting = gate.lasting
    guard lasting != rememberedGate else { return }
    if loggedBreakerState != lasting.breaker.state {
      loggedBreakerState = lasting.breaker.state
      logger.notice("circuit breaker: \(lasting.breaker.state.rawValue)")
    }
    rememberedGate = lasting
    do {
      let memory = try JSONEncoder().encode(gate.memory(at: clock.boot(), bootID: clock.bootID))
      // A request beside the pass may be writing: the last state is to be the last on disk.
      try await gateWrites.begin { [store, server] in
        try await store.servers.setBreakerMemory(String(decoding: memory, as: UTF8.self), at: server.url)
      }.value
      isGateTroubleLogged = false
    } catch {
      rememberedGate = nil
      if !isGateTroubleLogged {
        logger.warning(
          "the store does not take the circuit breaker's state: \(error); trying again with the next request")
      }
      isGateTroubleLogged = true
    }
  }
}
