import Coverage
import Dispatch
import Synchronization

/// The intact fences of a store in constant memory: oldest session first, the fences of a session in order of entry.
///
/// They are read in portions, so that no transaction stays open while a slow consumer handles them: the write-ahead
/// log would grow for that long. A fence that ends meanwhile may be included or not; none is included twice.
public struct StoredFences: Sendable {
  private let reader: StoreReader
  private let session: Int64?
  var size = FencePages.Size()

  /// - Parameters:
  ///   - reader: Reads the store.
  ///   - session: The id of the only session; `nil`: all sessions.
  public init(_ reader: StoreReader, session: Int64? = nil) {
    (self.reader, self.session) = (reader, session)
  }

  /// Calls `body` with each fence, while the next ones are read on another thread.
  /// - Parameter body: Receives the fences; all counts of their sessions are 0.
  /// - Throws: GRDB's `DatabaseError`, and errors of `body`.
  public func forEach(_ body: (StoredFence) throws -> Void) throws {
    var pages = FencePages(reader, session: session, size: size)
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
  /// - Throws: The error of `produce`.
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
