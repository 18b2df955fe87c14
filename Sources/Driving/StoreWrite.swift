import Coverage

/// Sessions and fences that go to the store in one transaction.
struct StoreWrite: Hashable, Sendable {
  /// Writes are numbered in their order.
  let number: Int
  /// When the drive started, by the clock that rules now.
  let started: WallTime
  let sessions: [Session]
  let fences: [Fence]
  /// How far an open fence is known to have lasted.
  let seen: DriveTime
  /// By session, the loop that it belongs to.
  let loopUUIDs: [Int: String]
  /// It has failed once, and what stood in its way has been removed.
  var isRetry = false
}
