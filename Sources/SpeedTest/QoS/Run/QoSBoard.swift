import Foundation
import OrderedJSON

/// Collects the results of tests that run side by side, by the number of the test. The first result of a test counts: a result
/// that comes after the timeout changes nothing.
final class QoSBoard: @unchecked Sendable {
  private let changed = NSCondition()
  private var results: [Int64: QoSResult] = [:]
  private let count: Int
  private let progress: @Sendable (QoSProgress) -> Void

  /// - Parameter count: The number of all tests, for the display.
  init(count: Int, progress: @escaping @Sendable (QoSProgress) -> Void) {
    (self.count, self.progress) = (count, progress)
  }

  /// Adds a result, and reports it under the lock: reports are made one after the other, and must not wait.
  func add(_ result: QoSResult) {
    changed.withLock {
      guard results[result.uid] == nil else { return }
      results[result.uid] = result
      progress(QoSProgress(done: results.count, count: count, newest: result))
      changed.broadcast()
    }
  }

  func has(_ uid: Int64) -> Bool { changed.withLock { results[uid] != nil } }

  /// Waits for one more result, 50 ms at most.
  func wait() { changed.withLock { _ = changed.wait(until: Date(timeIntervalSinceNow: 0.05)) } }

  /// The results in the order of `objectives`.
  func results(of objectives: [QoSObjective]) -> [QoSResult] {
    changed.withLock { objectives.compactMap { results[$0.uid] } }
  }
}
