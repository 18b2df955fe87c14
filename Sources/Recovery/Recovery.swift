import Coverage
import DriveLog
import DriveStore
import Foundation
import Logging

/// Makes up from the drive logs for what damage has taken from the store, at a start, before anything is recorded or sent.
///
/// Each log has every event of its drive, and replay makes the same fences. Only drives are compared of which something can be missing:
/// those that were not ended in order, logs that no drive names, and, after damage, those in which something hints at a loss.
public struct Recovery: Sendable {
  private let store: DriveStore
  private let maxAge: Duration
  private let logger: Logger

  /// - Parameter maxAge: A log that was written longer ago and that no drive names is left alone: what is in it would be too old to be sent.
  public init(_ store: DriveStore, maxAge: Duration, logger: Logger) {
    (self.store, self.maxAge, self.logger) = (store, maxAge, logger)
  }

  /// What came of it.
  public struct Outcome: Hashable, Sendable {
    /// Fences that are in the store again.
    public internal(set) var recovered = 0
    /// Fences that the logs have, for which it is not sure that they are as they were measured.
    public internal(set) var uncertain = 0
    /// Fences of which the server is asked whether it has them, before they are sent.
    public internal(set) var doubted = 0
  }

  /// Runs, and logs an error instead of throwing it: the next start tries again, and until then the server is asked before anything is sent
  /// that it may have.
  public func attempt(at now: WallTime) async {
    do { try await run(at: now) } catch {
      logger.error("the drive logs cannot be compared with the store now: \(error)")
    }
  }

  /// - Throws: GRDB's `DatabaseError`, `StoreError`
  @discardableResult
  public func run(at now: WallTime) async throws -> Outcome {
    try await completeForgetting()
    var outcome = Outcome()
    let need = store.recoveryNeed
    let drives = try await store.comparison.drives()
    for drive in drives where isDue(drive, need) { try await compare(drive, at: now, &outcome) }
    let oldest = now >= .earliestTrusted ? now.microseconds - maxAge.inMicroseconds : .min
    for log in try await store.comparison.strayLogs(after: WallTime(microseconds: oldest)) {
      try await takeUp(log, among: drives, at: now, &outcome)
    }
    guard store.recoveryNeed > .none else { return outcome }
    if store.recoveryNeed == .rolledBack {
      outcome.doubted = try await store.lostBatches.doubtUnsent()
      if outcome.doubted > 0 {
        logger.warning(
          "the store may have forgotten what was sent: the server is asked about \(outcome.doubted) fences before they are sent"
        )
      }
    }
    store.endRecovery()
    return outcome
  }

  /// Before anything is recovered: a session whose deletion was interrupted does not come back.
  private func completeForgetting() async throws {
    try await store.completeForgetting { number, log in
      try DriveLogWriter.noteForgotten(session: number, in: log)
    } report: { result in
      switch result {
      case .success(let forgotten):
        logger.notice("session \(forgotten.session) is deleted now; that was interrupted (sessions forget)")
      case .failure(let error): logger.error("\(error)")
      }
    }
  }

  private func isDue(_ drive: ComparableDrive, _ need: RecoveryNeed) -> Bool {
    drive.isUnfinished || drive.hasDamage || need > .none && (drive.hasGaps || drive.isWaiting)
  }

  // MARK: One drive

  private func compare(_ drive: ComparableDrive, at now: WallTime, _ outcome: inout Outcome) async throws {
    guard let path = drive.log, let recorded = read(path) else { return }
    let known = try await store.comparison.fenceMarks(of: drive.id)
    let replay = LogReplay(recorded, path: path)
    guard
      let base = if let started = drive.started { started } else { try await base(of: replay.drive, in: drive, known) }
    else { return }
    try await recover(
      replay.with(recorded, path: path, known: known, base: base), as: drive.id, known: known, base, at: now, &outcome)
  }

  /// A log that no drive names: the drive has lost its row, or what the row said of it.
  private func takeUp(
    _ path: String, among drives: [ComparableDrive], at now: WallTime, _ outcome: inout Outcome
  ) async throws {
    guard let recorded = read(path) else { return }
    let replay = LogReplay(recorded, path: path)
    guard replay.endedFences > 0 else { return }
    for drive in drives where drive.log.map({ !FileManager.default.fileExists(atPath: $0) }) ?? true || drive.hasDamage
    {
      let known = try await store.comparison.fenceMarks(of: drive.id)
      guard let base = try await base(of: replay.drive, in: drive, known) else { continue }
      return try await recover(
        replay.with(recorded, path: path, known: known, base: base), as: drive.id, known: known, base, at: now, &outcome
      )
    }
    // A copy of another log is no drive of its own.
    for drive in drives where drive.link == replay.drive.link {
      let known = try await store.comparison.fenceMarks(of: drive.id)
      if let found = base(of: replay.drive, known), found == replay.drive.started { return }
    }
    try await recover(replay, as: nil, known: [], replay.drive.started, at: now, &outcome)
  }

  /// The moment to which stored times of a drive relate, by fences that it has in common with its log; `nil` when it has none.
  private func base(of logged: LoggedDrive, _ known: [FenceMark]) -> WallTime? {
    let byNumber = Dictionary(known.map { ($0.number, $0) }) { first, _ in first }
    let bases = logged.fences.compactMap { fence -> Int64? in
      guard let mark = byNumber[fence.number], mark.place == fence.centre else { return nil }
      return mark.entered.microseconds - fence.entered.microseconds
    }
    guard let base = bases.first, bases.allSatisfy({ $0 == base }) else { return nil }
    return WallTime(microseconds: base)
  }

  /// The same; where none of its fences is left, its sessions tell by their tests, or by the moment of their beginning.
  private func base(of logged: LoggedDrive, in drive: ComparableDrive, _ known: [FenceMark]) async throws -> WallTime? {
    guard known.isEmpty else { return base(of: logged, known) }
    let byNumber = Dictionary(logged.sessions.map { ($0.number, $0) }) { first, _ in first }
    for mark in try await store.comparison.sessionMarks(of: drive.id) {
      guard let session = byNumber[mark.number] else { continue }
      let base = WallTime(microseconds: mark.started.microseconds - session.started.microseconds)
      if mark.test.map({ $0 == session.testUUID }) ?? (base == logged.started) { return base }
    }
    return nil
  }

  private func recover(
    _ replay: LogReplay, as drive: Int64?, known: [FenceMark], _ base: WallTime, at now: WallTime,
    _ outcome: inout Outcome
  ) async throws {
    // A kill can cost the last fence; more is missing only where the store is older than it was.
    let closed = known.count { !$0.isOpen }
    let isOlder = drive == nil || replay.endedFences - closed > 1
    if isOlder, drive == nil || store.recoveryNeed == .none { try store.noteRollback() }
    let (id, fences) = try await store.recover(replay.drive, as: drive, started: base, at: now)
    let uncertain = replay.endedFences - replay.drive.fences.count
    outcome.recovered += fences
    if fences > 0 { logger.notice("\(fences) fences of drive \(id) are recovered from its log \(replay.drive.log)") }
    if uncertain > 0, closed + fences < replay.endedFences {
      outcome.uncertain += uncertain
      logger.error("\(uncertain) fences of drive \(id) may be missing: its log \(replay.drive.log) is damaged as well")
    }
  }

  private func read(_ path: String) -> RecordedDrive? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    do { return try RecordedDrive(path: path) } catch {
      logger.warning("drive log \(path) cannot be compared with the store: \(error)")
      return nil
    }
  }
}

extension LogReplay {
  /// The same again, with what the store has, where the log alone does not tell everything.
  fileprivate func with(_ recorded: RecordedDrive, path: String, known: [FenceMark], base: WallTime) -> LogReplay {
    endedFences == drive.fences.count ? self : LogReplay(recorded, path: path, known: known, base: base)
  }
}
