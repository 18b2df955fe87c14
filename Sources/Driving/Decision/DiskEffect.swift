import Coverage
import OrderedJSON
import Store

/// A command of a ``DriveJournal`` to the ``DriveDisk``.
enum DiskEffect: Hashable, Sendable {
  // The drive log: answered by ``DiskAnswer/logged(trouble:)``, except `holdLog` and `closeLog`.
  case append(Event, beside: [JSON.Member])
  case note(ClockNote)
  /// Writes a line with a checksum of the lines so far.
  case seal(at: DriveTime)
  case syncLog
  /// `true`: lines wait in memory even if the disk may have room. Not answered.
  case holdLog(Bool)
  /// Answered by ``DiskAnswer/logClosed(trouble:dropped:)``. The end of the log gets the room of the reserve file, unless fences still wait for it.
  case closeLog(usesReserveFile: Bool)

  // The store.
  /// Answered by ``DiskAnswer/written(_:)`` or ``DiskAnswer/writeFailed(_:_:)``.
  case write(StoreWrite)
  /// Answered by ``DiskAnswer/repaired(_:)``.
  case repairStore
  /// Answered by ``DiskAnswer/driveEnded(_:)``.
  case endDrive(at: DriveTime, StopReason)
  /// Gives the room of the reserve file to a write that the disk refused. Answered by
  /// ``DiskAnswer/reserveFileReleased(_:for:_:)``.
  case releaseReserveFile(for: StoreWrite, StoreFailure)
  /// Makes the reserve file again. Answered by ``DiskAnswer/reserveFileMade(_:)``.
  case makeReserveFile
  /// Asks the sender to delete old data. Not answered.
  case makeRoom
}

/// The result of a ``DiskEffect``.
enum DiskAnswer: Hashable, Sendable {
  /// - Parameter trouble: Why the lines are not all written; `nil`: they are.
  case logged(trouble: String?)
  /// - Parameters:
  ///   - dropped: The number of lines that the log lacks for good.
  ///   - waiting: The number of lines that are in memory only.
  case logClosed(trouble: String?, dropped: Int, waiting: Int = 0)
  case written(StoreWrite)
  case writeFailed(StoreWrite, StoreFailure)
  /// - Parameter isReleased: Whether there was a reserve file.
  case reserveFileReleased(_ isReleased: Bool, for: StoreWrite, StoreFailure)
  case reserveFileMade(_ isReserved: Bool)
  /// - Parameter failure: Why the repair failed; `nil`: the store is intact again.
  case repaired(_ failure: StoreFailure?)
  /// - Parameter failure: Why the write failed; `nil`: the end is in the store.
  case driveEnded(_ failure: StoreFailure?)
}

/// Sessions and fences written to the store in one transaction.
struct StoreWrite: Hashable, Sendable {
  /// Numbers the writes of a drive in order.
  let number: Int
  /// The start of the drive by the selected clock.
  let started: WallTime
  let sessions: [Session]
  let fences: [Fence]
  /// The last time at which the open fence was still open.
  let seen: DriveTime
  /// Batches of these fences that were sent from memory.
  var batches: [BatchInMemory] = []
  /// Whether the store is not touched, unless the start of the drive has moved.
  var isEmpty: Bool { sessions.isEmpty && fences.isEmpty && batches.isEmpty }
  /// Whether it has failed once, and the cause was removed.
  var isRetry = false
}

/// Why a write to the store failed.
struct StoreFailure: Hashable, Sendable {
  /// Decides how the journal reacts.
  enum Kind: Hashable, Sendable {
    /// Freeing space may help.
    case diskFull
    /// The file is damaged.
    case damage
    case other
  }

  let kind: Kind
  /// The error's description, in one line.
  let text: String
  /// The reason in words for an operator.
  let reason: String
  let remedy: String?

  init(kind: Kind, text: String, reason: String, remedy: String? = nil) {
    (self.kind, self.text, self.reason, self.remedy) = (kind, text, reason, remedy)
  }

  init(_ error: any Error) {
    kind = StoreError.isDiskFull(error) ? .diskFull : StoreError.isDamage(error) ? .damage : .other
    text = "\(error)"
    (reason, remedy) = StoreError.writeTrouble(error)
  }
}
