import ControlServer
import Coverage
import DriveStore
import Logging

/// Sends what waits in the store to the control server, one request a session.
public struct Sender: Sendable {
  private let store: DriveStore
  private let server: ControlServerClient
  private let registration: Registration
  private let logger: Logger
  private let now: @Sendable () -> WallTime

  /// - Parameter now: The wall clock.
  public init(
    store: DriveStore, server: ControlServerClient, registration: Registration, logger: Logger,
    now: @escaping @Sendable () -> WallTime
  ) {
    self.store = store
    self.server = server
    self.registration = registration
    self.logger = logger
    self.now = now
  }

  /// What came of a pass.
  public struct Report: Hashable, Sendable {
    public internal(set) var sessionsSent = 0
    public internal(set) var fencesSent = 0
    /// Sessions that could not be sent now and are kept.
    public internal(set) var sessionsKept = 0
    /// Sessions that the server refused now; they are kept, and sent again on command only.
    public internal(set) var sessionsQuarantined = 0
    /// Why something was not sent, for the first of them.
    public internal(set) var firstFailure: ServerFailure?
  }

  /// One pass. A session that the server refuses does not hold up the others; a server that cannot take anything ends the pass.
  /// - Throws: GRDB's `DatabaseError` when the store fails.
  public func send(_ selection: Selection) async throws -> Report {
    let waiting = selection.sessions(from: try StoreReader(store).sessions())
    var report = Report()
    for (index, session) in waiting.enumerated() {
      do {
        report.fencesSent += try await send(session)
        report.sessionsSent += 1
      } catch let refusal as Refusal {
        report.sessionsQuarantined += 1
        report.firstFailure = report.firstFailure ?? refusal.failure
        logger.warning("session \(session.id) is quarantined: \(refusal.failure)")
        try await store.quarantine(session: session.id, reason: "\(refusal.failure)", at: now())
      } catch let failure as ServerFailure {
        report.sessionsKept += 1
        report.firstFailure = report.firstFailure ?? failure
        logger.warning("session \(session.id) is kept: \(failure)")
        guard failure.concernsOneRequest else {
          report.sessionsKept += waiting.count - index - 1
          break
        }
      } catch is CancellationError {
        report.sessionsKept += waiting.count - index
        break
      }
    }
    return report
  }

  /// The server has seen a session and does not want it.
  private struct Refusal: Error {
    let failure: ServerFailure
  }

  /// - Returns: How many fences the server took.
  /// - Throws: ``Refusal``, ``ControlServer/ServerFailure``, GRDB's `DatabaseError`
  private func send(_ stored: StoredSession) async throws -> Int {
    let clientUUID = try await registration.clientUUID()
    let anchored = try await anchored(stored, clientUUID: clientUUID)
    let fences = try StoreReader(store).fences(of: stored).filter { $0.fence.isSubmittable && $0.fence.exited != nil }
    let result = CoverageResult(
      clientUUID: clientUUID, testUUID: anchored.testUUID, driveStarted: stored.driveStarted, anchor: anchored.anchor,
      fences: fences.map(\.fence))
    logger.info("session \(stored.id): sending \(fences.count) fences")
    try await submit(result)
    try await store.markSubmitted(session: stored.id, fences: fences.map(\.id), at: now())
    return fences.count
  }

  private func submit(_ result: CoverageResult) async throws {
    var failure: ServerFailure?
    do {
      try await server.submit(result)
    } catch {
      failure = error
    }
    guard let failure else { return }
    throw failure.isFinal ? Refusal(failure: failure) : failure
  }

  /// A session that was recorded offline gets its test now, one of its own: its fences lie before the anchor.
  private func anchored(
    _ stored: StoredSession, clientUUID: String
  ) async throws -> (testUUID: String, anchor: DriveTime) {
    if let testUUID = stored.session.testUUID, let anchor = stored.session.anchor { return (testUUID, anchor) }
    let time = WallTime(microseconds: now().milliseconds * 1000)
    let grant = try await server.requestCoverage(CoverageRequest(clientUUID: clientUUID, loopUUID: nil, time: time))
    try await store.anchor(session: stored.id, testUUID: grant.testUUID, loopUUID: grant.loopUUID, at: time)
    return (grant.testUUID, time.since(stored.driveStarted))
  }
}

extension ServerFailure {
  /// Whether the same request would be refused for ever. "No started test found" is among these: after an answer that was lost,
  /// the server may well have the session (spec 4.4).
  var isFinal: Bool {
    if case .refused(let status, _) = self { [400, 409, 413, 422].contains(status) } else { false }
  }

  /// Whether another session may fare better.
  var concernsOneRequest: Bool {
    switch self {
    case .refused(let status, _): ![401, 403, 404].contains(status)
    case .unusableAnswer: true
    case .unreachable, .tooManyRequests, .serverTrouble, .notTheServer: false
    }
  }
}
