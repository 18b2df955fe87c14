/// Runs one caller at a time, in order of arrival.
actor AsyncMutex {
  private var isTaken = false
  private var waiting: [(ticket: Int, continuation: CheckedContinuation<Bool, Never>)] = []
  private var tickets = 0

  /// Runs `body` after all earlier callers.
  /// - Throws: `CancellationError` when the task is cancelled while it waits; errors of `body`.
  nonisolated func run<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
    try await enter()
    do {
      let result = try await body()
      await leave()
      return result
    } catch {
      await leave()
      throw error
    }
  }

  private func enter() async throws {
    tickets += 1
    let ticket = tickets
    guard isTaken else {
      isTaken = true
      return
    }
    let isIn = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled {
          continuation.resume(returning: false)
        } else {
          waiting.append((ticket, continuation))
        }
      }
    } onCancel: {
      Task { await self.giveUp(ticket) }
    }
    if !isIn { throw CancellationError() }
  }

  private func giveUp(_ ticket: Int) {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return }
    waiting.remove(at: index).continuation.resume(returning: false)
  }

  private func leave() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().continuation.resume(returning: true) }
  }
}
