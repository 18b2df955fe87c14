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
  /// The UUIDs of those that the server has.
  private var submitted: Set<String> = []
  /// How many the server does not have, and the disk neither.
  var waiting: Int { held.count { !submitted.contains($0.start.testUUID) } }

  /// `nil` for a test that is not in memory, and was not sent from there.
  func hasSubmitted(_ uuid: String) -> Bool? {
    if submitted.contains(uuid) { return true }
    return held.contains { $0.start.testUUID == uuid } ? false : nil
  }

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
    let known = try await runner.store.reading { [ids = held.map(\.id)] in try $0.speedTests(ids: ids) }
    submitted.formUnion(known.filter { $0.state == .submitted }.map(\.testUUID))
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
    // In one transaction: a test that the server has must not look as if it waited.
    let known = try await memory.reading { try $0.speedTests(ids: [test.id]) }.first
    try await tests.end(row, test.end, known: known, at: parts.clock.wall())
    _ = try await memory.speedTests.forget(test.id)
  }
}
