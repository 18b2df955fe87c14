import Coverage
import OrderedJSON
import Store

/// Decides when a drive is written to disk: its fences and sessions to the store, its events to the drive log. A pure
/// value; ``DriveDisk`` runs its effects.
///
/// On a full disk, fences get the room of the reserve file, and the sender is asked to delete old data. Rows that the disk
/// still refuses stay in memory, and the next write includes them; no row is dropped while the process lives. A
/// damaged store is repaired, and the whole drive is written to it again.
struct DriveJournal: Hashable, Sendable {
  /// What the store says to the end of the drive.
  private enum Ending: Hashable { case ahead, refused, stored }

  private static let heldLog = "the disk is full: fences use the space reserved for them, the drive log waits"

  private let hasLog: Bool
  /// The start of the drive by the selected clock. A change moves all times of the drive with the next write.
  var started: WallTime
  private var rows = UnsavedRows()
  /// What was sent while the disk refused it; the next write includes it.
  var batches: [BatchInMemory] = []
  private var ending = Ending.ahead
  private var isLogHeld = false
  private var storeTrouble: String?
  /// The whole drive waits in memory then, and no write tries another repair.
  private var hasRepairFailed = false
  /// Writes that the store has refused in a row.
  private var refusals = 0
  private var logTrouble: String?
  /// Lines of the ended drive's log that are in memory only.
  private(set) var waitingLines = 0
  /// The program's log names this many lines that the drive log lacks.
  private var reportedLacking = 0

  init(started: WallTime, hasLog: Bool) { (self.started, self.hasLog) = (started, hasLog) }

  /// Why part of the drive is not on disk, in one line; `nil` when all of it is.
  var trouble: String? { storeTrouble ?? logTrouble ?? (isLogHeld ? Self.heldLog : nil) }

  /// Fences that are not in the store yet.
  var unsavedFenceCount: Int { rows.fenceCount }

  /// Fences of which the store has nothing.
  var unstoredFenceCount: Int { rows.unstoredCount }

  /// Whether the store has the test of `session`.
  func isTestStored(of session: Session) -> Bool { rows.isTestStored(of: session) }

  /// The store has nothing of this fence and of later ones.
  var firstUnstored: Int { rows.firstUnstored }

  /// Whether all of the drive is on the disk, including its end.
  var isComplete: Bool { isStored && waitingLines == 0 }

  /// Whether the store has all of the drive, including its end.
  var isStored: Bool { ending == .stored && rows.isEmpty && batches.isEmpty }

  // MARK: Writing

  func append(_ event: Event, beside details: [JSON.Member] = []) -> [DriveEffect] {
    hasLog ? [.disk(.append(event, beside: details))] : []
  }

  func append(_ note: ClockNote) -> [DriveEffect] { hasLog ? [.disk(.note(note))] : [] }

  /// Handles the engine's changes. Writes sessions and fences that ended at once; late pings of ended fences wait for
  /// the next write.
  mutating func apply(_ changes: [Effect], at now: DriveTime) -> [DriveEffect] {
    var isUrgent = false
    for change in changes {
      switch change {
      case .sessionBegan(let session), .sessionChanged(let session):
        rows.insert(session)
        isUrgent = true
      case .fenceClosed(let fence):
        rows.insert(fence)
        isUrgent = true
      case .fenceRevised(let fence): rows.insert(fence)
      case .stopped: isUrgent = true
      }
    }
    return isUrgent ? seal(at: now) + [write(seen: now)] : []
  }

  /// Writes the open fence in its present state, and the drive log. A power cut costs at most the time since the last
  /// call.
  mutating func checkpoint(_ openFence: Fence?, at now: DriveTime) -> [DriveEffect] {
    if let openFence { rows.insert(openFence) }
    return [write(seen: now), .proceed(.checkpointed(at: now))]
  }

  func checkpointed(at now: DriveTime) -> [DriveEffect] {
    guard hasLog else { return [] }
    return (isLogHeld ? [.disk(.makeReserveFile)] : []) + seal(at: now) + [.disk(.syncLog)]
  }

  /// Notes the end in the store, after the last fence is there.
  func end(at time: DriveTime, _ reason: StopReason) -> [DriveEffect] {
    (rows.isEmpty && ending != .stored ? [.disk(.endDrive(at: time, reason))] : [])
      + (hasLog ? [.disk(.closeLog(usesReserveFile: rows.isEmpty))] : [])
  }

  private func seal(at now: DriveTime) -> [DriveEffect] { hasLog ? [.disk(.seal(at: now))] : [] }

  private mutating func write(seen: DriveTime) -> DriveEffect {
    .disk(.write(rows.write(started: started, seen: seen, batches: batches)))
  }

  // MARK: Answers

  mutating func handle(_ answer: DiskAnswer, of engine: Engine) -> [DriveEffect] {
    switch answer {
    case .logged(let trouble): return logged(trouble)
    case .logClosed(let trouble, let dropped, let waiting):
      isLogHeld = false
      waitingLines = waiting
      let isNews = dropped > reportedLacking
      reportedLacking = max(dropped, reportedLacking)
      return logged(trouble) + (isNews ? [.log(.error, Self.lacking(dropped), .diskTrouble)] : [])
    case .written(let write): return written(write)
    case .writeFailed(let write, let failure): return failed(write, failure, engine)
    case .reserveFileReleased(true, let write, _): return retry(write)
    case .reserveFileReleased(false, _, let failure): return note(failure)
    case .reserveFileMade(true):
      isLogHeld = false
      return [.disk(.holdLog(false)), .log(.notice, "the disk has room again; the drive log goes on", .diskTrouble)]
    case .reserveFileMade(false): return []
    case .repaired(let failure?):
      hasRepairFailed = true
      return note(failure)
    case .repaired(nil):
      var write = rows.write(started: started, seen: engine.now, batches: batches)
      write.isRetry = true
      return [.disk(.write(write))]
    case .driveEnded(let failure?):
      ending = .refused
      return note(failure)
    case .driveEnded(nil):
      ending = .stored
      return storeAccepts()
    }
  }

  private mutating func logged(_ trouble: String?) -> [DriveEffect] {
    // A held log is not written: that says nothing about the disk.
    guard !isLogHeld || trouble != nil else { return [] }
    defer { logTrouble = trouble }
    switch (logTrouble, trouble) {
    case (nil, let trouble?): return [.log(.error, "\(trouble); its lines wait in memory", .diskTrouble)]
    case (.some, nil): return [.log(.notice, "the drive log can be written again", .diskTrouble)]
    default: return []
    }
  }

  private static func lacking(_ lines: Int) -> String {
    "the drive log lacks \(counted(lines, "line")): the disk had no room for them; the fences are complete"
  }

  private mutating func written(_ write: StoreWrite) -> [DriveEffect] {
    rows.remove(write)
    batches = []
    // After the last row, a write of nothing says nothing about the store.
    return ending == .refused && write.isEmpty ? [] : storeAccepts()
  }

  /// The store has accepted something.
  private mutating func storeAccepts() -> [DriveEffect] {
    guard storeTrouble != nil else { return [] }
    defer { (storeTrouble, refusals, hasRepairFailed) = (nil, 0, false) }
    return [
      .log(
        .notice,
        "the store can be written again after \(counted(refusals, "refused write")); nothing is missing in it",
        .diskTrouble)
    ]
  }

  private mutating func failed(_ write: StoreWrite, _ failure: StoreFailure, _ engine: Engine) -> [DriveEffect] {
    switch failure.kind {
    case .diskFull where !write.isRetry: return [.disk(.releaseReserveFile(for: write, failure))]
    case .damage where !write.isRetry && !hasRepairFailed:
      // If the repair fails, the whole drive waits in memory.
      engine.sessions.forEach { rows.insert($0) }
      engine.fences.forEach { rows.insert($0) }
      if let openFence = engine.openFence { rows.insert(openFence) }
      rows.doubtStore()
      return [.log(.error, "the store is damaged: \(failure.text)", .storeDamage), .disk(.repairStore)]
    case .damage:
      hasRepairFailed = true
      return note(failure)
    case .diskFull, .other: return note(failure)
    }
  }

  private mutating func retry(_ write: StoreWrite) -> [DriveEffect] {
    var write = write
    write.isRetry = true
    isLogHeld = hasLog
    return (hasLog ? [.disk(.holdLog(true))] : []) + [
      .disk(.makeRoom),
      .log(
        .warning,
        "the disk is full; fences use the space reserved for them, the drive log waits; free some space", .diskTrouble),
      .disk(.write(write)),
    ]
  }

  private mutating func note(_ failure: StoreFailure) -> [DriveEffect] {
    var effects: [DriveEffect] = failure.kind == .diskFull ? [.disk(.makeRoom)] : []
    refusals += 1
    // One line a reason: each further refusal is counted.
    if storeTrouble != "store: \(failure.reason)" {
      let advice = failure.remedy.map { "; \($0)" } ?? ""
      effects.append(
        .log(
          .error,
          "cannot write to the store: \(failure.reason); fences wait in memory until it can be written\(advice)",
          failure.kind == .damage ? .storeDamage : .diskTrouble))
    }
    storeTrouble = "store: \(failure.reason)"
    return effects
  }
}
