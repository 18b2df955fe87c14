import Coverage
import Driving
import Logging
import Settings
import Store
import Submission

/// `submit`: runs one pass over the stored sessions.
package struct Submitting: Sendable {
  private let configuration: ProbeConfiguration
  private let mode: PassMode
  private let urgency: ServerGate.Urgency
  private let logger: Logger

  /// - Parameter isForced: Sends even while the circuit breaker is open, or the server's `Retry-After` has not passed.
  package init(
    configuration: ProbeConfiguration, isWarm: Bool, includesQuarantined: Bool, isForced: Bool = false, logger: Logger
  ) {
    self.configuration = configuration
    mode = isWarm ? .warm : includesQuarantined ? .quarantined : .cold
    urgency = isForced ? .forced : .commanded
    self.logger = logger
  }

  /// Runs the pass, or asks the service that uses the store to run it.
  /// - Parameters:
  ///   - stop: Cancels the pass; unsent fences stay stored.
  ///   - progress: Receives what is counted, the number that is done, and the total: drive logs in a recovery, then fences. A pass of the
  ///     service reports nothing.
  /// - Throws: ``ConfigurationError``, `StoreError`, ``ServiceUnreachable``.
  package func run(
    stop: AsyncStream<Void>, progress: @escaping @Sendable (String, Int, Int) -> Void = { _, _, _ in },
    print: (String) -> Void
  ) async throws -> CommandOutcome {
    if let line = try nothingWithoutServer() {
      print(line)
      return .done
    }
    let (line, outcome) = try await untilStopped(by: stop) { () async throws -> (String, CommandOutcome) in
      do {
        let report = try await pass(
          try .configured(configuration, for: "there is no server to submit to"), progress)
        let note = try keptNote()
        return (report.line + note, report.outcome)
      } catch {
        // A store that cannot be written at present still has all waiting fences.
        if let trouble = StoreError.sendingTrouble(error) {
          return ("not submitted: \(trouble); waiting data stays stored", .kept)
        }
        guard let inUse = error as? StoreError, case .inUse = inUse else { throw error }
        return try await ServiceClient(configuration: configuration).ask(instead: inUse) { [mode, urgency] service in
          try await service.submit(mode, urgency)
        }
      }
    }
    guard outcome != .failed else { throw CommandFailure(line) }
    print(line)
    return outcome
  }

  /// The line for a device without a control server where nothing waits for one; `nil` with a server, or when data waits.
  private func nothingWithoutServer() throws -> String? {
    guard configuration.controlServer.url == nil else { return nil }
    // Without a store, the missing server is the news.
    guard let reader = try? StoreReader(directory: StateDirectory(path: configuration.stateDirectory)),
      try reader.keptSessions() > 0, try reader.unsentSessions().isEmpty, try reader.unsentSpeedTests() == 0
    else {
      return nil
    }
    return "nothing to submit" + (try keptNote(reader))
  }

  /// Names the sessions that are never submitted; empty without any.
  private func keptNote(_ reader: StoreReader? = nil) throws -> String {
    let reader = try reader ?? StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    let count = try reader.keptSessions()
    return count > 0 ? "; \(keptWords(count))" : ""
  }

  /// Opens the store as its only writer, restores fences that it lacks, and runs the pass.
  /// - Throws: `StoreError/inUse` while a service has the store open.
  private func pass(
    _ server: ControlServerClient, _ progress: @escaping @Sendable (String, Int, Int) -> Void
  ) async throws -> PassReport {
    let store = try DriveStore(
      directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) submit"
    ) { [logger] in logger.error("\($0)") }
    if let warning = store.directory.warning { logger.warning("\(warning)") }
    _ = await Recovery(store, maxAge: configuration.submission.maxAge, logger: logger) { progress("drive log", $0, $1) }
      .attempt(at: .current)
    let sender = try Sender(
      store: store, server: server, settings: configuration.sender, clock: .host, logger: logger)
    // It ends with this scope, cancelled and awaited: what holds the store when the pass is over would keep its lock.
    async let _: Void = watch(store, progress)
    return try await sender.pass(mode, urgency: urgency)
  }

  private static func waiting(in store: DriveStore) async throws -> Int {
    try await store.reading { try $0.fencesToSend(fromDrive: .min) }
  }

  /// Reports how many of the waiting fences are sent, until the task is cancelled.
  private func watch(_ store: DriveStore, _ progress: @Sendable (String, Int, Int) -> Void) async {
    guard let total = try? await Self.waiting(in: store), total > 0 else { return }
    while (try? await Task.sleep(for: .milliseconds(250))) != nil, let waiting = try? await Self.waiting(in: store) {
      progress("fence", max(0, total - waiting), total)
    }
  }
}
