import Coverage
import Foundation
import Logging

/// Restores fences that damage has removed from the store, from the drive logs. Runs at a start, and never beside a drive, whose rows
/// would be taken for lost ones.
///
/// Each log has every event of its drive, and replay makes the same fences from them. Only drives that may lack
/// fences are compared: those that were interrupted, logs that no drive names, and, after damage, drives with a sign
/// of a loss. A drive need not wait for all of them: a recovery that is cut short leaves its mark (``DriveStore/recoveryNeed``). Until one has
/// run to its end, no drive log is deleted, and each pass asks the server's history about what it would send.
public struct Recovery: Sendable {
  private let store: DriveStore
  private let maxAge: Duration
  private let logger: Logger
  private let progress: @Sendable (_ done: Int, _ drives: Int) -> Void

  /// - Parameters:
  ///   - store: The store to restore; no other process may write to it.
  ///   - maxAge: Of logs that no drive names and that are older than this, only fences that the server has are restored, after damage: others
  ///     would be too old to be sent.
  ///   - logger: The program's log.
  ///   - progress: Receives the number of drive logs that were compared, and of all that are to be.
  public init(
    _ store: DriveStore, maxAge: Duration, logger: Logger,
    progress: @escaping @Sendable (_ done: Int, _ drives: Int) -> Void = { _, _ in }
  ) {
    (self.store, self.maxAge, self.logger, self.progress) = (store, maxAge, logger, progress)
  }

  /// The result of a recovery.
  public struct Outcome: Hashable, Sendable {
    /// Fences restored to the store.
    public internal(set) var recovered = 0
    /// Fences in the logs that may differ from the measured ones, and were not restored.
    var uncertain = 0
    /// Fences that are sent only after the server's history shows that the server does not have them.
    var doubted = 0
    /// Whether drive logs are left to compare, because the recovery was cut short.
    public internal(set) var isCutShort = false
  }

  /// Runs the recovery, and logs an error instead of throwing it. The next start tries again; until then, no fence is
  /// sent that the server may have, without a look at the server's history.
  /// - Returns: Whether the recovery was cut short.
  public func attempt(at now: WallTime, until isEnough: @Sendable () -> Bool = { false }) async -> Bool {
    do {
      return try await runRepairing(at: now, until: isEnough).isCutShort
    } catch {
      logger.error("the drive logs cannot be compared with the store now: \(StoreError.line(error))")
      return false
    }
  }

  private func runRepairing(at now: WallTime, until isEnough: () -> Bool) async throws -> Outcome {
    do {
      return try await run(at: now, until: isEnough)
    } catch let error where StoreError.isDamage(error) {
      // The start of a large store does not read every part of it.
      try store.repair()
      return try await run(at: now, until: isEnough)
    }
  }

  /// Runs the recovery.
  /// - Parameters:
  ///   - now: The present wall time.
  ///   - isEnough: Asked before each log; `true` cuts the recovery short. Interrupted drives are compared first, and in any case: a pass
  ///     ends them, and then they look like others. Not asked in a store without a client UUID: a pass would register another client, whose
  ///     history does not show what the lost one has sent.
  /// - Throws: GRDB's `DatabaseError`, `StoreError`
  @discardableResult
  public func run(at now: WallTime, until isEnough: () -> Bool = { false }) async throws -> Outcome {
    try await completeForgetting()
    let mayBeCutShort = try await store.servers.knowsClient()
    var outcome = Outcome()
    let need = store.recoveryNeed
    let drives = try await store.comparison.drives()
    let due =
      drives.filter(\.isUnfinished)
      + drives.filter { !$0.isUnfinished && ($0.hasDamage || need > .none && ($0.hasGaps || $0.isWaiting)) }
    for (index, drive) in due.enumerated() {
      guard drive.isUnfinished || !mayBeCutShort || !isEnough() else { return try cutShort(outcome) }
      progress(index, due.count)
      try await compare(drive, at: now, &outcome)
    }
    let oldest = WallTime(microseconds: now >= .earliestTrusted ? now.microseconds - maxAge.inMicroseconds : .min)
    var known: [Int64: [FenceMark]] = [:]
    let strays = try await store.comparison.strayLogs(before: oldest)
      .filter { !$0.isOld || need > .none }
    for (index, (log, isOld)) in strays.enumerated() {
      guard !mayBeCutShort || !isEnough() else { return try cutShort(outcome) }
      progress(due.count + index, due.count + strays.count)
      try await adopt(log, among: drives, &known, onlySentBefore: isOld ? oldest : nil, at: now, &outcome)
    }
    if due.count + strays.count > 0 { progress(due.count + strays.count, due.count + strays.count) }
    guard store.recoveryNeed > .none else { return outcome }
    if store.recoveryNeed == .rolledBack {
      outcome.doubted = try await store.lostBatches.doubtUnsent()
      if outcome.doubted > 0 {
        logger.warning(
          "the store may have lost records of sent fences: asking the server about \(counted(outcome.doubted, "fence")) before sending any"
        )
      }
    }
    store.endRecovery()
    return outcome
  }

  private func cutShort(_ outcome: Outcome) throws -> Outcome {
    try store.noteRollback()
    logger.notice("the rest of the drive logs is compared with the store later: a drive comes first")
    var outcome = outcome
    outcome.isCutShort = true
    return outcome
  }

  /// Runs before the recovery: a session whose deletion was interrupted must not be restored.
  private func completeForgetting() async throws {
    try await SessionErasure(store: store.store).complete { result in
      switch result {
      case .success(let forgotten):
        logger.notice("session \(forgotten.session) is deleted now; its deletion was interrupted (sessions forget)")
      case .failure(let error): logger.error("\(error)")
      }
    }
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

  /// Restores a drive from a log that no drive names: the store has lost its row, or the values in it.
  /// - Parameters:
  ///   - known: The fences of each drive, which are read once for all logs.
  ///   - oldest: Of a drive that ended before, by the log's own times too, only what the server has; `nil`: all of any drive.
  private func adopt(
    _ path: String, among drives: [ComparableDrive], _ known: inout [Int64: [FenceMark]],
    onlySentBefore oldest: WallTime?, at now: WallTime, _ outcome: inout Outcome
  ) async throws {
    guard let recorded = read(path) else { return }
    var replay = LogReplay(recorded, path: path)
    let ended = replay.drive.started + replay.engine.now
    if let oldest, ended >= .earliestTrusted, ended < oldest { replay.dropUnsent() }
    guard replay.endedFences > 0 else { return }
    for drive in drives where drive.log.map({ !FileManager.default.fileExists(atPath: $0) }) ?? true || drive.hasDamage
    {
      let marks = try await marks(of: drive.id, &known)
      guard let base = try await base(of: replay.drive, in: drive, marks) else { continue }
      known[drive.id] = nil
      return try await recover(
        replay.with(recorded, path: path, known: marks, base: base), as: drive.id, known: marks, base, at: now, &outcome
      )
    }
    // A copy of another drive's log is not a drive of its own.
    for drive in drives where drive.link == replay.drive.link {
      let marks = try await marks(of: drive.id, &known)
      if let found = base(of: replay.drive, marks), found == replay.drive.started { return }
    }
    try await recover(replay, as: nil, known: [], replay.drive.started, at: now, &outcome)
  }

  private func marks(of drive: Int64, _ known: inout [Int64: [FenceMark]]) async throws -> [FenceMark] {
    if let marks = known[drive] { return marks }
    let marks = try await store.comparison.fenceMarks(of: drive)
    known[drive] = marks
    return marks
  }

  /// The start of the drive by the store's times, from fences that store and log have in common; `nil` when there are
  /// none.
  private func base(of logged: LoggedDrive, _ known: [FenceMark]) -> WallTime? {
    let byNumber = Dictionary(known.map { ($0.number, $0) }) { first, _ in first }
    let bases = logged.fences.compactMap { fence -> Int64? in
      guard let mark = byNumber[fence.number], mark.place == fence.centre else { return nil }
      return mark.entered.microseconds.saturatingSubtracting(fence.entered.microseconds)
    }
    guard let base = bases.first, bases.allSatisfy({ $0 == base }) else { return nil }
    return WallTime(microseconds: base)
  }

  /// The same. If the store has none of its fences, its sessions give the start, by their tests or by their start
  /// times.
  private func base(of logged: LoggedDrive, in drive: ComparableDrive, _ known: [FenceMark]) async throws -> WallTime? {
    guard known.isEmpty else { return base(of: logged, known) }
    let byNumber = Dictionary(logged.sessions.map { ($0.number, $0) }) { first, _ in first }
    for mark in try await store.comparison.sessionMarks(of: drive.id) {
      guard let session = byNumber[mark.number] else { continue }
      let base = WallTime(microseconds: mark.started.microseconds.saturatingSubtracting(session.started.microseconds))
      if mark.test.map({ $0 == session.testUUID }) ?? (base == logged.started) { return base }
    }
    return nil
  }

  private func recover(
    _ replay: LogReplay, as drive: Int64?, known: [FenceMark], _ base: WallTime, at now: WallTime,
    _ outcome: inout Outcome
  ) async throws {
    // A kill can cost the last fence; more fences are missing only if the store is older than the log.
    let closed = known.count { !$0.isOpen }
    let isOlder = drive == nil || replay.endedFences - closed > 1
    if isOlder, drive == nil || store.recoveryNeed == .none { try store.noteRollback() }
    let (id, fences) = try await store.recover(replay.drive, as: drive, started: base, at: now)
    let uncertain = replay.endedFences - replay.drive.fences.count
    outcome.recovered += fences
    if fences > 0 {
      logger.notice("\(counted(fences, "fence")) of drive \(id) recovered from its log \(replay.drive.log)")
    }
    if uncertain > 0, closed + fences < replay.endedFences {
      outcome.uncertain += uncertain
      logger.error(
        "\(counted(uncertain, "fence")) of drive \(id) may be missing: its log \(replay.drive.log) is damaged as well")
    }
  }

  private func read(_ path: String) -> RecordedDrive? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    do { return try RecordedDrive(path: path) } catch {
      logger.warning("drive log \(path) cannot be compared with the store: \(StoreError.line(error))")
      return nil
    }
  }
}

extension LogReplay {
  /// Replays again with the store's fences, where the log alone leaves fences uncertain.
  fileprivate func with(_ recorded: RecordedDrive, path: String, known: [FenceMark], base: WallTime) -> LogReplay {
    endedFences == drive.fences.count ? self : LogReplay(recorded, path: path, known: known, base: base)
  }
}
