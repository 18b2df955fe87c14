import Dispatch
import Synchronization

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
