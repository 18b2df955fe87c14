import Foundation

/// 1, 2, 3, ... for callers on any thread.
final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var last = 0

  func next() -> Int {
    lock.withLock {
      last += 1
      return last
    }
  }
}
