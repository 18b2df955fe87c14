import Foundation
import Logging
import Store

/// The row of a drive in the store, and its log, as they are made before the drive begins.
struct DriveFiles: Sendable {
  let recorder: DriveRecorder
  /// The path of the log, `nil` without one.
  let log: String?

  /// Removes them: the drive cannot begin on another of its links. A service tries again and again.
  func discard(_ logger: Logger) {
    if let log { unlink(log) }
    do {
      try recorder.discard()
    } catch {
      logger.error("drive \(recorder.drive) has not begun, but stays in the store: \(StoreError.line(error))")
    }
  }
}
