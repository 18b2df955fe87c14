import Coverage
import Store

/// The sessions and fences of a drive that may not be in the store. A pure value.
///
/// A write includes all of them. Only a successful write removes rows, and only rows that have not changed since.
struct UnsavedRows: Hashable, Sendable {
  /// A value that waits for a write.
  private struct Row<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value
    /// The number of the first write that includes this value.
    let write: Int
  }

  private var sessionRows: [Int: Row<Session>] = [:]
  private var fenceRows: [Int: Row<Fence>] = [:]
  private var nextWrite = 0
  /// The store has some version of all fences with a lower number, and nothing of the others.
  private(set) var firstUnstored = 0
  /// The tests in the store, by session number.
  private var storedTests: [Int: String] = [:]

  var isEmpty: Bool { sessionRows.isEmpty && fenceRows.isEmpty }
  var fenceCount: Int { fenceRows.count }
  /// Whether the store has the test of `session`.
  func isTestStored(of session: Session) -> Bool {
    session.testUUID != nil && storedTests[session.number] == session.testUUID
  }
  /// The fences of which the store has nothing.
  var unstoredCount: Int { fenceRows.keys.count { $0 >= firstUnstored } }

  mutating func insert(_ session: Session) { sessionRows[session.number] = Row(value: session, write: nextWrite) }
  mutating func insert(_ fence: Fence) { fenceRows[fence.number] = Row(value: fence, write: nextWrite) }

  /// The next write, with all rows.
  mutating func write(started: WallTime, seen: DriveTime, batches: [BatchInMemory] = []) -> StoreWrite {
    defer { nextWrite += 1 }
    return StoreWrite(
      number: nextWrite, started: started,
      sessions: sessionRows.sorted { $0.key < $1.key }.map(\.value.value),
      fences: fenceRows.sorted { $0.key < $1.key }.map(\.value.value), seen: seen, batches: batches)
  }

  /// `write` is durable.
  mutating func remove(_ write: StoreWrite) {
    for session in write.sessions where sessionRows[session.number].map({ $0.write <= write.number }) == true {
      sessionRows[session.number] = nil
    }
    for fence in write.fences where fenceRows[fence.number].map({ $0.write <= write.number }) == true {
      fenceRows[fence.number] = nil
    }
    for session in write.sessions { storedTests[session.number] = session.testUUID }
    // Each write has all rows that wait.
    if let last = write.fences.last { firstUnstored = max(firstUnstored, last.number + 1) }
  }

  /// The store was damaged: it may have lost any row.
  mutating func doubtStore() { firstUnstored = 0 }
}
