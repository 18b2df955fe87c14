import Coverage
import Foundation
import Logging
import Store

/// The control server behind ``ServerGate``. Every request of this process leaves through ``send(_:_:)``. It does not
/// suspend between the gate's answer and the request, so no 429 can come between the two.
actor GatedServer {
  /// Requests that belong together: those of a pass, or those for one test. They share one call of the gate until it
  /// ends.
  struct Exchange: Hashable, Sendable {
    private let id = UInt64.random(in: 0...UInt64.max)
  }

  private let server: any ControlServing
  private let clock: SenderClock
  private let timekeeper: Timekeeper
  private var gate: ServerGate
  private var record: GateRecord
  /// A call of the gate that has not ended.
  private struct OpenCall {
    let call: ServerGate.Call
    /// A request of it has succeeded.
    var hasSucceeded = false
  }

  private var calls: [Exchange: OpenCall] = [:]
  /// A background pass's wait for its share of the spread.
  private var spread: InterruptibleSleep?
  /// Commanded passes that run, or wait for another pass to end.
  private var commandedPasses = 0
  /// When the server last accepted fences, by the time since the boot.
  private var acceptedFences: Duration?
  /// Requests that were sent or answered.
  private(set) var requests: UInt64 = 0

  init(
    _ server: any ControlServing, gate: ServerGate, store: DriveStore, clock: SenderClock, timekeeper: Timekeeper,
    logger: Logger
  ) {
    (self.server, self.clock, self.timekeeper, self.gate) = (server, clock, timekeeper, gate)
    record = GateRecord(of: gate, in: store, url: server.url, bootID: clock.bootID, logger: logger)
  }

  nonisolated var url: String { server.url }
  nonisolated var device: Device { server.device }
  nonisolated var isPresent: Bool { !server.url.isEmpty }

  var status: SenderStatus { SenderStatus(gate, at: clock.boot()) }

  var isBreakerClosed: Bool { gate.breaker.state == .closed }

  /// Why no such request may leave now; `nil` when one may.
  func hold(_ urgency: ServerGate.Urgency) -> ServerGate.Hold? { gate.hold(urgency, at: clock.boot()) }

  // MARK: Requests

  /// The only function that sends requests.
  /// - Throws: ``ServerGate/Hold``, ``ServerFailure``, `CancellationError`
  func send<Answer: Sendable>(
    _ exchange: Exchange, _ request: @Sendable (any ControlServing) async throws -> Answer
  ) async throws -> Answer {
    try await admit(exchange)
    requests &+= 1
    do {
      let answer = try await request(server)
      requests &+= 1
      calls[exchange]?.hasSucceeded = true
      await timekeeper.publish()
      return answer
    } catch {
      requests &+= 1
      if let failure = error as? ServerFailure {
        gate.heard(failure, at: clock.boot())
        if case .tooManyRequests = failure { await end(exchange, .failed(failure)) }
      }
      // A refusal has the server's time too.
      await timekeeper.publish()
      throw error
    }
  }

  // MARK: The gate

  /// Waits until a request of `exchange` may leave. After each suspension it asks the gate again, because another
  /// request may have met 429 meanwhile. It does not suspend after the gate's last answer.
  /// - Parameter urgency: The urgency of a call that begins now; a call under way keeps its own.
  /// - Throws: ``ServerGate/Hold``, `CancellationError`
  func admit(_ exchange: Exchange, _ urgency: ServerGate.Urgency = .commanded) async throws {
    while true {
      if let open = calls[exchange], gate.allows(open.call, at: clock.boot()) { return }
      switch gate.ask(urgency, at: clock.boot(), random: clock.random()) {
      case .leave(let call):
        calls[exchange] = OpenCall(call: call)
        await persist()
      case .spread(let wait): try await waitForSpread(wait)
      case .held(let hold): throw hold
      }
    }
  }

  /// Ends the call of `exchange`, if it has one. A later request of `exchange` begins another. Without a request that succeeded, a call is
  /// no success: it proves nothing about the server.
  func end(_ exchange: Exchange, _ outcome: ServerGate.Outcome) async {
    guard let open = calls.removeValue(forKey: exchange) else { return }
    let outcome = outcome == .success && !open.hasSucceeded ? .cancelled : outcome
    gate.end(open.call, outcome, at: clock.boot(), random: clock.random())
    await persist()
  }

  /// A batch was delivered: the back-off of background passes starts again from its shortest wait.
  func delivered() { gate.delivered() }

  /// The server answered that it has stored fences: what the history shows says nothing about now.
  func acceptsFences() { acceptedFences = clock.boot() }

  /// Whether the server accepted fences within the last minute, also in the pass before: `record` sends its drive in a pass of its own.
  var hasJustAcceptedFences: Bool { acceptedFences.map { clock.boot() - $0 <= .seconds(60) } ?? false }

  /// A pass ended in trouble: background passes wait.
  func troubled(by failure: ServerFailure) async {
    gate.troubled(by: failure, at: clock.boot(), random: clock.random())
    await persist()
  }

  /// Stores the lasting part of the gate's state, if the store does not have it yet.
  func persist() async {
    guard let write = record.begin(gate, at: clock.boot()) else { return }
    record.ended(await write.result)
  }

  // MARK: The spread

  /// Until ``commandedPassEnded()``, no pass waits for its share of the spread; a wait under way ends now.
  func commandedPassBegins() {
    commandedPasses += 1
    spread?.interrupt()
  }

  func commandedPassEnded() { commandedPasses -= 1 }

  private func waitForSpread(_ duration: Duration) async throws {
    guard commandedPasses == 0 else { return }
    let sleep = InterruptibleSleep(duration, clock)
    spread = sleep
    await sleep.finish()
    spread = nil
    try Task.checkCancellation()
  }
}
