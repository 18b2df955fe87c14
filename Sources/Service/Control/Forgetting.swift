import Coverage
import Logging
import Settings
import Store

/// `sessions forget`: deletes a session or a speed test permanently.
public enum Forgetting {
  /// Deletes the data, or asks the service that uses the store to do it.
  /// - Parameter target: The data to delete.
  /// - Throws: `StoreError`, `ForgettingError`, ``ExportError`` when there is no such data, ``ServiceUnreachable``.
  public static func run(
    _ target: ForgetTarget, _ configuration: ProbeConfiguration, logger: Logger, print: (String) -> Void
  ) async throws -> CommandOutcome {
    do {
      let store = try DriveStore(
        directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) sessions forget"
      ) { logger.error("\($0)") }
      // Repair the store first: otherwise the session's part of the drive log would stay, and a later recovery would
      // restore it.
      try await Recovery(store, maxAge: configuration.submission.maxAge, logger: logger).run(at: .current)
      try await Self.forget(target, in: store).forEach(print)
      return .done
    } catch let inUse as StoreError {
      // The store has one writer: when the service has it open, the service deletes the data.
      guard case .inUse = inUse else { throw inUse }
      let (line, outcome) = try await ServiceClient(configuration: configuration).ask(instead: inUse) { service in
        try await service.forget(target)
      }
      guard outcome != .failed else { throw CommandFailure(line) }
      print(line)
      return outcome
    }
  }

  /// Deletes `target` from an open store.
  /// - Returns: The lines of the result.
  /// - Throws: GRDB's `DatabaseError`, `ForgettingError`, `CocoaError`, `DriveLogError`, ``ExportError`` when there is no such
  ///   data.
  static func forget(_ target: ForgetTarget, in store: DriveStore) async throws -> [String] {
    switch target {
    case .session(let id): try await forget(session: id, in: store)
    case .speedTest(let id): try await forget(speedTest: id, in: store)
    }
  }

  /// - Throws: ``ExportError`` when there is no such test, or when it is running.
  private static func forget(speedTest id: Int64, in store: DriveStore) async throws -> [String] {
    let stored = try await store.reading { try $0.speedTests() }.first { $0.id == id }
    guard try await store.speedTests.forget(id) else {
      throw stored?.state == .measuring ? ExportError.runningSpeedTest(id) : ExportError.noSuchSpeedTest(id)
    }
    return ["speed test \(id) is deleted here; the server keeps a result that was sent"]
      + store.directory.damagedStores.map(advice)
  }

  /// A damaged store that was set aside keeps its rows.
  private static func advice(on damagedStore: String) -> String {
    "damaged store \(damagedStore) may still contain it; delete it too"
  }

  /// Deletes a session, and notes it in the drive log first, so that a recovery does not restore it.
  private static func forget(session: Int64, in store: DriveStore) async throws -> [String] {
    guard let forgotten = try await store.forget(session: session) else { throw ExportError.noSuchSession(session) }
    var lines = [
      "session \(session) with \(counted(forgotten.fences, "fence")) is deleted here; the server keeps fences that were sent"
    ]
    if let log = forgotten.deletedLog { lines.append("drive log \(log) is deleted") }
    if let log = forgotten.keptLog {
      lines.append("drive log \(log) still contains the positions; it is deleted with the last session of its drive")
    }
    return lines + forgotten.damagedStores.map(advice)
  }
}

/// Why an export, or a deletion, cannot begin.
public enum ExportError: Error, Hashable, CustomStringConvertible {
  case noSuchSession(Int64)
  case noSuchSpeedTest(Int64)
  /// A speed test that is being measured cannot be deleted.
  case runningSpeedTest(Int64)

  /// The reason and the remedy, in one line.
  public var description: String {
    switch self {
    case .noSuchSession(let id): "there is no session \(id); coverage-probe sessions lists them"
    case .noSuchSpeedTest(let id): "there is no speed test \(id); coverage-probe sessions --speed-tests lists them"
    case .runningSpeedTest(let id): "speed test \(id) is running; stop it first, or wait for its end"
    }
  }
}
