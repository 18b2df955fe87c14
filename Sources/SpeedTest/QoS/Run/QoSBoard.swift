import OrderedJSON
import Synchronization

/// Collects the results of tests that run side by side, by the number of the test. The first result of a test counts: a result
/// that comes after the timeout changes nothing.
final class QoSBoard: Sendable {
  private struct State {
    var results: [Int64: QoSResult] = [:]
    var next = Latch()
  }

  private let state = Mutex(State())
  private let count: Int
  private let progress: @Sendable (QoSProgress) -> Void

  /// - Parameter count: The number of all tests, for the display.
  init(count: Int, progress: @escaping @Sendable (QoSProgress) -> Void) {
    (self.count, self.progress) = (count, progress)
  }

  /// Adds a result, and reports it under the lock: reports are made one after the other, and must not wait.
  func add(_ result: QoSResult) {
    state.withLock { state in
      guard state.results[result.uid] == nil else { return }
      state.results[result.uid] = result
      progress(QoSProgress(done: state.results.count, count: count, newest: result))
      state.next.open()
      state.next = Latch()
    }
  }

  func has(_ uid: Int64) -> Bool { state.withLock { $0.results[uid] != nil } }

  /// Opens with the next result.
  var next: Latch { state.withLock { $0.next } }

  /// The results in the order of `objectives`.
  func results(of objectives: [QoSObjective]) -> [QoSResult] {
    state.withLock { state in objectives.compactMap { state.results[$0.uid] } }
  }
}
