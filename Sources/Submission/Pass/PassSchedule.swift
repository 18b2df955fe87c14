/// Decides which pass a background sender runs next, and when. A pure value.
struct PassSchedule: Hashable, Sendable {
  /// Cold until one cold pass could run and left nothing of an earlier process behind; then warm.
  private(set) var mode = PassMode.cold
  /// The wait after the store failed, which says nothing about the server.
  private var storeBackoff: Backoff
  private let interval: Duration
  /// The last pass found the clock not set.
  private var awaitsClock = false

  /// A pass that finds the clock not set ends at once, so it can be repeated soon.
  private static let clockInterval: Duration = .seconds(10)

  /// - Parameter policy: Its back-off also applies to failures of the store.
  init(every interval: Duration, policy: ServerGate.Policy) {
    self.interval = interval
    storeBackoff = Backoff(base: policy.backoff, cap: policy.backoffMax)
  }

  mutating func passEnded(_ report: PassReport) {
    // Without a trusted clock the pass looked at nothing.
    awaitsClock = report.hold == .clock
    if !awaitsClock, report.fencesWithoutSession == 0 { mode = .warm }
    storeBackoff.succeeded()
  }

  /// Records that the store failed during a pass.
  mutating func storeFailed(at now: Duration, random: Double) {
    awaitsClock = false
    storeBackoff.failed(at: now, random: random)
  }

  /// The wait before the next pass, unless ``Sender/nudge()`` ends it early.
  /// - Parameter gate: The gate's wait for background passes.
  func wait(gate: Duration, at now: Duration) -> Duration {
    let wait = max(gate, storeBackoff.remaining(at: now))
    let longest = awaitsClock ? min(interval, Self.clockInterval) : interval
    return wait > .zero ? min(wait, longest) : longest
  }
}
