import Coverage
import Dispatch
import GRDB
import Synchronization

/// The intact fences of a store that meet conditions, in constant memory: oldest session first, the fences of a session in order of entry.
///
/// They are read in portions, so that no transaction stays open while a slow consumer handles them: the write-ahead
/// log would grow for that long. A fence that ends meanwhile may be included or not; none is included twice.
public struct StoredFences: Sendable {
  private let reader: StoreReader
  private let conditions: FenceConditions
  var size = FencePages.Size()

  /// - Parameters:
  ///   - reader: Reads the store.
  ///   - conditions: What the fences meet.
  public init(_ reader: StoreReader, where conditions: FenceConditions = FenceConditions()) {
    (self.reader, self.conditions) = (reader, conditions)
  }

  /// The number of ended fences in sessions of the store, damaged ones included, whatever the conditions.
  /// - Throws: GRDB's `DatabaseError`
  public func count() throws -> Int {
    try reader.value(
      "SELECT count(*) FROM fence WHERE exited_at IS NOT NULL AND session_id IN (SELECT id FROM session)") ?? 0
  }

  /// The number of fences that ``forEach(_:)`` reads, damaged ones included: a total for a display. It is counted without a look at their
  /// checksums.
  /// - Throws: GRDB's `DatabaseError`
  public func countToRead() throws -> Int {
    guard let database = reader.database else { return 0 }
    return try database.read { db in
      let condition: SQL =
        "SELECT count(*) FROM main.fence AS fence WHERE \(conditions.onValues) AND \(conditions.onItsSession)"
      return try SQLRequest<Int>(literal: condition).fetchOne(db) ?? 0
    }
  }

  /// Calls `body` with each fence, while the next ones are read on another thread.
  /// - Parameter body: Receives the fences; all counts of their sessions are 0.
  /// - Throws: GRDB's `DatabaseError`, and errors of `body`.
  public func forEach(_ body: (StoredFence) throws -> Void) throws {
    var pages = FencePages(reader, where: conditions, size: size)
    let ahead = ReadAhead { try pages.next() }
    while let page = try ahead.next() { try page.forEach(body) }
  }
}

/// Produces the next element on a thread of its own while the caller handles the last one.
final class ReadAhead<Element: Sendable>: Sendable {
  private struct State: Sendable {
    let produce: @Sendable () throws -> Element?
    var ready: Result<Element?, any Error>?
  }

  private let queue = DispatchQueue(label: "ReadAhead")
  private let state: Mutex<State>

  /// - Parameter produce: Returns `nil` at the end. It is called by one thread at a time, and not again after the end or an error.
  init(_ produce: sending @escaping () throws -> Element?) {
    nonisolated(unsafe) let produce = produce
    state = Mutex(State(produce: { try produce() }))
    start()
  }

  /// The next element, as soon as it is there; `nil` at the end.
  func next() throws -> Element? {
    let element = try queue.sync { try state.withLock { try $0.ready?.get() } }
    guard let element else { return nil }
    start()
    return element
  }

  private func start() {
    queue.async { self.state.withLock { state in state.ready = Result { try state.produce() } } }
  }
}
