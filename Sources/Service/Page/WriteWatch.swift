import Synchronization

/// Notices a follower that accepts no bytes, so that its connection can be closed: a phone out of reach would otherwise occupy
/// its place for hours.
final class WriteWatch: Sendable {
  /// When the present write began; `nil` between writes.
  private let began = Mutex<ContinuousClock.Instant?>(nil)
  private let patience: Duration

  init(patience: Duration) { self.patience = patience }

  /// Runs a write that waits for the follower.
  func writing(_ write: () async throws -> Void) async throws {
    began.withLock { $0 = .now }
    defer { began.withLock { $0 = nil } }
    try await write()
  }

  /// Returns when a write has taken longer than the patience, or when the task is cancelled.
  func wait() async {
    while !Task.isCancelled, !isStuck { try? await Task.sleep(for: min(patience, .seconds(1))) }
  }

  private var isStuck: Bool { began.withLock { $0.map { .now - $0 > patience } ?? false } }
}
