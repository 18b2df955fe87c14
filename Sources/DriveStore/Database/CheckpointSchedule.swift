import Foundation

/// When the write-ahead log is copied into the store: SQLite's own rule counts pages, and at rest has hours in them.
final class CheckpointSchedule: @unchecked Sendable {
  /// Some ten pages each time, beside some 150 that are written to the log in between.
  private static let interval = Duration.seconds(120)
  private let lock = NSLock()
  private var last = ContinuousClock.now

  func isDue() -> Bool {
    lock.withLock {
      guard .now - last >= Self.interval else { return false }
      last = .now
      return true
    }
  }
}
