import Foundation

/// Collects the reports of a test's threads, behind a lock.
final class Ledger: @unchecked Sendable {
  private let lock = NSLock()
  private var outcome = SpeedTestOutcome()

  func note(_ change: (inout SpeedTestOutcome) -> Void) { lock.withLock { change(&outcome) } }

  var result: SpeedTestOutcome { lock.withLock { outcome } }
}
