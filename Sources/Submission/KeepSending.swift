import Coverage
import DriveStore
import Logging

/// Sending beside everything else that a process does.
extension Sender {
  /// Sends in the background until the task is cancelled: a cold pass at once, again until one was possible and took up all that
  /// was left behind, then a warm one from time to time, when a wait after trouble is over, and after each ``nudge()``.
  ///
  /// What the store throws is logged and tried again at the pace of the back-off; when the disk is full, after room was made.
  /// - Parameter interval: From one pass to the next, while nothing happens.
  public func keepSending(every interval: Duration = .seconds(15 * 60)) async {
    var mode = PassMode.cold
    while !Task.isCancelled {
      do {
        let report = try await pass(mode, urgency: .background)
        // With a clock that is not set it looked at nothing: what an earlier process left behind still waits for the cold pass.
        if report.hold != .clock, report.fencesWithoutSession == 0 { mode = .warm }
        storeBackoff.succeeded()
      } catch {
        logger.error("\(mode) pass: the store fails: \(error)")
        if StoreError.isDiskFull(error) { await makeRoom() }
        storeBackoff.failed(at: clock.boot(), random: clock.random())
      }
      await idle(for: nextWait(atMost: interval))
    }
  }

  /// Something happened after which it is worth a look at what waits, e.g. a test is being asked for.
  public func nudge() {
    isNudged = true
    idleWait?.cancel()
  }

  private func nextWait(atMost interval: Duration) -> Duration {
    let wait = max(.milliseconds(status.nextAttemptInMilliseconds), storeBackoff.remaining(at: clock.boot()))
    return wait > .zero ? min(wait, interval) : interval
  }

  private func idle(for duration: Duration) async {
    defer { isNudged = false }
    // During the pass before.
    guard !isNudged else { return }
    let wait = Task { [clock] in try await clock.sleep(duration) }
    idleWait = wait
    _ = await withTaskCancellationHandler {
      await wait.result
    } onCancel: {
      wait.cancel()
    }
    idleWait = nil
  }
}
