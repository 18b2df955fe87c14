import Foundation

/// Collects the figures and failures of a test's threads, behind a lock. The run reads the result when all threads have ended.
final class Ledger: @unchecked Sendable {
  private let lock = NSLock()
  private var outcome = SpeedTestOutcome()

  func note(_ change: (inout SpeedTestOutcome) -> Void) { lock.withLock { change(&outcome) } }

  var result: SpeedTestOutcome { lock.withLock { outcome } }
}
