import Coverage
import Logging
import Store

/// Speed tests that the disk refuses: each pass sends them from memory first, and the store gets them, as they are then, when it can be written
/// again. They last as long as the process.
actor SpeedTestsInMemory {
  private struct Held {
    /// In the store in memory.
    let id: Int64
    /// In the store on the disk; `nil` when that refused its start, too.
    var row: Int64?
    let start: SpeedTestOutbox.Start
    let end: SpeedTestOutbox.End
  }

  /// Of the store on the disk.
  private let parts: PassParts
  private var runner: PassRunner?
  private var held: [Held] = []

  init(parts: PassParts) { self.parts = parts }

  /// - Throws: GRDB's `DatabaseError`; then it has taken nothing.
  func add(_ start: SpeedTestOutbox.Start, _ end: SpeedTestOutbox.End, as row: Int64?) async throws {
    let runner = try runner ?? PassRunner(parts: parts.of(try DriveStore.inMemory()))
    self.runner = runner
    let id = try await runner.store.speedTests.begin(start)
    try await runner.store.speedTests.end(id, end)
    held.append(Held(id: id, row: row, start: start, end: end))
  }

  /// One pass over them; `nil` without any.
  /// - Throws: GRDB's `DatabaseError`
  func send(_ urgency: ServerGate.Urgency) async throws -> (report: PassReport, hadQueue: Bool)? {
    guard !held.isEmpty, let runner else { return nil }
    let result = try await runner.run(.memory, urgency) { nil }
    await moveToDisk(from: runner.store)
    return result
  }

  /// While the disk refuses them, they stay.
  private func moveToDisk(from memory: DriveStore) async {
    guard await parts.store.isWritable() else { return }
    do {
      while !held.isEmpty {
        try await store(at: 0, from: memory)
        held.removeFirst()
      }
    } catch {
      parts.logger.error("speed tests stay in memory: \(StoreError.line(error))")
    }
  }

  private func store(at index: Int, from memory: DriveStore) async throws {
    let (test, tests) = (held[index], parts.store.speedTests)
    let row = if let row = test.row { row } else { try await tests.begin(test.start) }
    held[index].row = row
    try await tests.end(row, test.end)
    guard let known = try await memory.reading({ try $0.speedTests(ids: [test.id]) }).first else { return }
    switch known.state {
    case .submitted: try await tests.markSubmitted(row, .result, at: parts.clock.wall())
    case .quarantined: try await tests.quarantine(row, .result, reason: known.reason ?? "", at: parts.clock.wall())
    case .sending: try await tests.beginSending(row, .result, at: known.sent ?? parts.clock.wall())
    case .waiting, .measuring: break
    }
    _ = try await memory.speedTests.forget(test.id)
  }
}
