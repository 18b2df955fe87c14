import Coverage
import Store

/// Sessions and fences written to the store in one transaction.
struct StoreWrite: Hashable, Sendable {
  /// Numbers the writes of a drive in order.
  let number: Int
  /// The start of the drive by the ruling clock.
  let started: WallTime
  let sessions: [Session]
  let fences: [Fence]
  /// The last time at which the open fence was still open.
  let seen: DriveTime
  /// The loop of each session, by session number.
  let loopUUIDs: [Int: String]
  /// Batches of these fences that were sent from memory.
  var batches: [BatchInMemory] = []
  /// Whether the store is not touched, unless the start of the drive has moved.
  var isEmpty: Bool { sessions.isEmpty && fences.isEmpty && batches.isEmpty }
  /// Whether it has failed once, and the cause was removed.
  var isRetry = false
}
