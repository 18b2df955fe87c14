import Coverage
import DriveLog
import OrderedJSON

/// A command of a ``DriveJournal`` to the ``DriveDisk``.
enum DiskEffect: Hashable, Sendable {
  // The drive log: answered by ``DiskAnswer/logged(trouble:)``, but for `holdLog` and `closeLog`.
  case append(Event, beside: [JSON.Member])
  case note(ClockNote)
  /// Vouches for the lines so far.
  case seal(at: DriveTime)
  case syncLog
  /// Not answered. `true`: lines wait in memory although there may be room.
  case holdLog(Bool)
  /// Answered by ``DiskAnswer/logClosed(trouble:dropped:)``.
  case closeLog

  // The store.
  /// Answered by ``DiskAnswer/written(_:)`` or ``DiskAnswer/writeFailed(_:_:)``.
  case write(StoreWrite)
  /// Answered by ``DiskAnswer/repaired(_:)``.
  case repairStore
  /// Answered by ``DiskAnswer/driveEnded(_:)``.
  case endDrive(at: DriveTime, StopReason)
  /// Gives the room that was set aside to a write that the disk refused. Answered by ``DiskAnswer/ballastReleased(_:for:_:)``.
  case releaseBallast(for: StoreWrite, StoreFailure)
  /// Sets room aside again. Answered by ``DiskAnswer/ballastSetAside(_:)``.
  case setBallastAside
  /// Asks for old data to be deleted. Not answered.
  case makeRoom
}
