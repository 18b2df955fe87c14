/// A sleep that another task can end early.
struct InterruptibleSleep: Sendable {
  private let task: Task<Void, any Error>

  /// Starts the sleep at once.
  init(_ duration: Duration, _ clock: SenderClock) { task = Task { try await clock.sleep(duration) } }

  /// Returns when the sleep ends, when ``interrupt()`` is called, or when the caller's task is cancelled.
  func finish() async {
    _ = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
  }

  func interrupt() { task.cancel() }
}
