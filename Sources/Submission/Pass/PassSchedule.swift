import Coverage
import DriveStore

/// Decides which pass a process that keeps sending runs next, and when. A pure value.
struct PassSchedule: Hashable, Sendable {
  /// Cold until a pass was possible and took up all that an earlier process left behind; then warm.
  private(set) var mode = PassMode.cold
  /// The wait after the store has failed: that says nothing about the server.
  private var storeBackoff: Backoff
  private let interval: Duration

  /// - Parameters:
  ///   - interval: From one pass to the next, while nothing happens.
  ///   - policy: Its back-off counts for the store as well.
  init(every interval: Duration, policy: ServerGate.Policy) {
    self.interval = interval
    storeBackoff = Backoff(base: policy.backoff, cap: policy.backoffMax)
  }

  mutating func passEnded(_ report: Report) {
    // With a clock that is not set the pass looked at nothing.
    if report.hold != .clock, report.fencesWithoutSession == 0 { mode = .warm }
    storeBackoff.succeeded()
  }

  /// The store failed in mid-pass.
  /// - Parameter random: 0 to 1.
  mutating func storeFailed(at now: Duration, random: Double) { storeBackoff.failed(at: now, random: random) }

  /// How long to wait before the next pass, if nothing happens meanwhile.
  /// - Parameter gate: The wait of passes in the background, by the gate.
  func wait(gate: Duration, at now: Duration) -> Duration {
    let wait = max(gate, storeBackoff.remaining(at: now))
    return wait > .zero ? min(wait, interval) : interval
  }
}
