import Coverage
import OrderedJSON
import Store

@testable import Driving

/// A disk in memory: the rows of a store as upserts leave them, and the lines of a drive log. It can be full, damaged or failing.
struct ModelDisk {
  private(set) var sessions: [Int: Session] = [:]
  private(set) var fences: [Int: Fence] = [:]
  private(set) var started: WallTime?
  private(set) var end: (at: DriveTime, reason: StopReason)?
  /// Each event in the log, in order.
  private(set) var events: [Event] = []
  /// What the log has beside each event.
  private(set) var details: [[JSON.Member]] = []
  private(set) var clockNotes: [ClockNote] = []
  private(set) var seals = 0
  private(set) var syncs = 0
  private(set) var isLogHeld = false
  private(set) var requestsForRoom = 0
  var hasReserveFile = true
  /// `nil`: it can be written.
  var storeFailure: StoreFailure?
  /// Of the end of the drive only.
  var endFailure: StoreFailure?
  var logTrouble: String?
  /// A full disk has room once the reserve file is released.
  var reserveFileHelps = true
  var repairs = true
  var linesDropped = 0
  var linesWaiting = 0

  static let full = StoreFailure(kind: .diskFull, text: "full", reason: "the disk is full", remedy: "free some space")
  static let damaged = StoreFailure(kind: .damage, text: "malformed", reason: "malformed")
  static let failing = StoreFailure(kind: .other, text: "I/O error", reason: "the disk fails")

  mutating func perform(_ effect: DiskEffect) -> DiskAnswer? {
    switch effect {
    case .append(let event, let beside):
      events.append(event)
      details.append(beside)
      return logged
    case .note(let note):
      clockNotes.append(note)
      return logged
    case .seal:
      seals += 1
      return logged
    case .syncLog:
      syncs += 1
      return logged
    case .holdLog(let isHeld): isLogHeld = isHeld
    case .closeLog:
      isLogHeld = false
      return .logClosed(trouble: logTrouble, dropped: linesDropped, waiting: linesWaiting)
    case .write(let write): return self.write(write)
    case .repairStore:
      guard repairs else { return .repaired(Self.damaged) }
      storeFailure = nil
      (sessions, fences) = ([:], [:])
      return .repaired(nil)
    case .endDrive(let at, let reason):
      let failure = storeFailure ?? endFailure
      if failure == nil { end = (at, reason) }
      return .driveEnded(failure)
    case .releaseReserveFile(let write, let failure):
      if hasReserveFile, reserveFileHelps { storeFailure = nil }
      defer { hasReserveFile = false }
      return .reserveFileReleased(hasReserveFile, for: write, failure)
    case .makeReserveFile:
      hasReserveFile = hasReserveFile || storeFailure?.kind != .diskFull
      return .reserveFileMade(hasReserveFile)
    case .makeRoom: requestsForRoom += 1
    }
    return nil
  }

  /// The lines of a held log are not written: no trouble is seen.
  private var logged: DiskAnswer { .logged(trouble: isLogHeld ? nil : logTrouble) }

  private mutating func write(_ write: StoreWrite) -> DiskAnswer {
    if let storeFailure { return .writeFailed(write, storeFailure) }
    for session in write.sessions { sessions[session.number] = session }
    for fence in write.fences { fences[fence.number] = fence }
    started = write.started
    return .written(write)
  }
}
