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
  /// Answered by ``DiskAnswer/logClosed(trouble:dropped:)``. The end of the log gets the room of the ballast, unless fences still wait for it.
  case closeLog(usesBallast: Bool)

  // The store.
  /// Answered by ``DiskAnswer/written(_:)`` or ``DiskAnswer/writeFailed(_:_:)``.
  case write(StoreWrite)
  /// Answered by ``DiskAnswer/repaired(_:)``.
  case repairStore
  /// Answered by ``DiskAnswer/driveEnded(_:)``.
  case endDrive(at: DriveTime, StopReason)
  /// Gives the room of the ballast to a write that the disk refused. Answered by
  /// ``DiskAnswer/ballastReleased(_:for:_:)``.
  case releaseBallast(for: StoreWrite, StoreFailure)
  /// Makes the ballast again. Answered by ``DiskAnswer/ballastReserved(_:)``.
  case reserveBallast
  /// Asks the sender to delete old data. Not answered.
  case makeRoom
}
