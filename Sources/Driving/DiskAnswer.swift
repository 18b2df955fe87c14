/// The result of a ``DiskEffect``.
enum DiskAnswer: Hashable, Sendable {
  /// - Parameter trouble: `nil`: the lines so far are written.
  case logged(trouble: String?)
  /// - Parameter dropped: How many lines the log lacks.
  case logClosed(trouble: String?, dropped: Int)
  case written(StoreWrite)
  case writeFailed(StoreWrite, StoreFailure)
  /// - Parameter isReleased: Whether any room was set aside.
  case ballastReleased(_ isReleased: Bool, for: StoreWrite, StoreFailure)
  case ballastSetAside(_ isSetAside: Bool)
  /// - Parameter failure: `nil`: the store is whole again.
  case repaired(_ failure: StoreFailure?)
  /// - Parameter failure: `nil`: the end is in the store.
  case driveEnded(_ failure: StoreFailure?)
}
