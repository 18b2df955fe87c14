import Coverage
import DriveLog
import DriveStore
import Logging
import Recovery
import Settings

/// `sessions forget`: deletes a session permanently.
public struct Forgetting: Sendable {
  private let configuration: ProbeConfiguration
  private let session: Int64
  private let logger: Logger

  /// - Parameters:
  ///   - configuration: Names the state directory, and the service's socket.
  ///   - session: The id of the session.
  ///   - logger: For the lines of a repair.
  public init(configuration: ProbeConfiguration, session: Int64, logger: Logger) {
    self.configuration = configuration
    self.session = session
    self.logger = logger
  }

  /// Deletes the session, or asks the service that uses the store to do it.
  /// - Parameter print: Receives the lines of the result.
  /// - Throws: `StoreError`, `ForgettingError`, ``ExportError`` when there is no such session, ``ServiceUnreachable``.
  public func run(print: (String) -> Void) async throws -> CommandOutcome {
    do {
      let store = try DriveStore(
        directory: StateDirectory(path: configuration.stateDirectory), purpose: "\(Program.name) sessions forget"
      ) { [logger] in logger.error("\($0)") }
      // Repair the store first: otherwise the session's part of the drive log would stay, and a later recovery would
      // restore it.
      try await Recovery(store, maxAge: configuration.submission.maxAge, logger: logger).run(at: .current)
      try await Self.forget(session, in: store).forEach(print)
      return .done
    } catch let inUse as StoreError {
      guard case .inUse = inUse else { throw inUse }
      let (line, outcome) = try await ServiceClient(configuration: configuration).ask(instead: inUse) { service in
        try await service.forget(session)
      }
      guard outcome != .failed else { throw ServiceRefusal(description: line) }
      print(line)
      return outcome
    }
  }

  /// Deletes `session` from an open store.
  /// - Returns: The lines of the result.
  /// - Throws: GRDB's `DatabaseError`, `ForgettingError`, `CocoaError`, `DriveLogError`, ``ExportError`` when there is no such session.
  static func forget(_ session: Int64, in store: DriveStore) async throws -> [String] {
    let forgotten = try await store.forget(session: session) { number, log in
      try DriveLogWriter.noteForgotten(session: number, in: log)
    }
    guard let forgotten else { throw ExportError.noSuchSession(session) }
    var lines = [
      "session \(session) with \(counted(forgotten.fences, "fence")) is deleted here; the server keeps fences that were sent"
    ]
    if let log = forgotten.deletedLog { lines.append("drive log \(log) is deleted") }
    if let log = forgotten.keptLog {
      lines.append("drive log \(log) still contains the positions; it is deleted with the last session of its drive")
    }
    for file in forgotten.damagedStores { lines.append("damaged store \(file) may still contain it; delete it too") }
    return lines
  }
}
