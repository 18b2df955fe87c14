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
  /// - Parameter isReleased: Whether there was a ballast.
  case ballastReleased(_ isReleased: Bool, for: StoreWrite, StoreFailure)
  case ballastReserved(_ isReserved: Bool)
  /// - Parameter failure: Why the repair failed; `nil`: the store is intact again.
  case repaired(_ failure: StoreFailure?)
  /// - Parameter failure: Why the write failed; `nil`: the end is in the store.
  case driveEnded(_ failure: StoreFailure?)
}
