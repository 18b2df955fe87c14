import Synchronization

/// The state of a running test, for a display. Each thread reports for itself.
public struct SpeedTestProgress: Hashable, Sendable {
  /// The phases of a test in their order.
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    case connecting, downloadPreTest, ping, download, uploadPreTest, upload, closing
  }

  public let phase: Phase
  public let thread: Int
  /// The thread's newest point in a main phase; `nil` at the start of a phase, and in the phases without a curve.
  public let sample: Sample?
}

/// Collects the figures and failures of a test's threads, behind a lock. The run reads the result when all threads have ended.
final class RunRecord: Sendable {
  private let outcome = Mutex(SpeedTestOutcome())

  func note(_ change: (inout SpeedTestOutcome) -> Void) { outcome.withLock { change(&$0) } }

  var result: SpeedTestOutcome { outcome.withLock { $0 } }
}
