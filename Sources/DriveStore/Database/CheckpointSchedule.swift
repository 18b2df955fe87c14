import Foundation

/// Decides when the write-ahead log is copied into the store. SQLite's own rule counts pages: at a device's rate the
/// log would contain hours of data.
final class CheckpointSchedule: @unchecked Sendable {
  /// About ten pages are copied each time; about 150 are written to the log between two copies.
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
