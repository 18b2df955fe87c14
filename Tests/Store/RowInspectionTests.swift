import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// The search for damaged rows, slice by slice.
struct RowInspectionTests {
  private let folder: TemporaryFolder
  private let store: DriveStore

  init() throws {
    folder = try TemporaryFolder()
    let directory = StateDirectory(path: folder.file("state"))
    try directory.copyNewStore()
    var file = StoreFile(directory: directory) { _ in }
    file.readAtStart = -1
    store = try DriveStore(file, purpose: "a test")
  }

  private func save(_ fences: Int) throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)],
      fences: (0..<fences).map { .sample(number: $0, entered: Double($0)) }, seen: .seconds(Double(fences)))
  }

  @Test("when a round begins at any fence and reads slices of any size, then it reads each row once", arguments: 1...9)
  func round(_ limit: Int) async throws {
    try save(20)
    try await store.damage("UPDATE fence SET pings = 99 WHERE id IN (1, 7, 20); UPDATE drive SET ended_at = 1")
    for start in [Int64.min, 1, 2, 7, 20, 21, .max] {
      var round = InspectionRound(fencesFrom: start)
      var rows = 0
      while let part = round.part {
        let slice = try await store.store.read { try part.read($0, atMost: limit) }
        #expect(slice.rows <= limit)
        rows += slice.rows
        round.add(slice)
      }
      #expect(rows == 23, "from \(start)")
      #expect((round.damaged, round.damagedMeasurements) == (4, 4))
    }
  }

  @Test("when the store is small, then each pass finds all damaged rows, and forgets repaired ones")
  func small() async throws {
    try save(20)
    #expect(try await store.inspection.damagedRows() == 0)
    try await store.damage("UPDATE fence SET pings = 99 WHERE id IN (1, 7, 20)")
    #expect(try await store.inspection.damagedRows() == 3)
    try await store.database.write { try $0.execute(sql: "DELETE FROM fence WHERE id = 7") }
    #expect(try await store.inspection.damagedRows() == 2)
  }

  @Test("when the store has more rows than a pass reads, then several passes find all damaged ones")
  func large() async throws {
    let inspection = RowInspection(store: store.store, rowsInSlice: 10, rowsInPass: 200)
    let fences = 300
    try save(fences)
    try await store.damage("UPDATE fence SET pings = 99 WHERE id IN (1, 7, \(fences))")
    var found: [Int] = []
    for _ in 0..<4 { found.append(try await inspection.damagedRows()) }
    #expect(found.contains(3))
    #expect(found.allSatisfy { $0 <= 3 })
  }

  @Test("when the start has not read all rows, then damage asks the next start for a comparison with the logs")
  func mark() async throws {
    try save(20)
    #expect(try await store.inspection.damagedRows() == 0)
    #expect(store.recoveryNeed == .none)
    try await store.damage("UPDATE fence SET pings = 99 WHERE id = 7")
    #expect(try await store.comparison.drives().map(\.hasDamage) == [false])
    #expect(try await store.inspection.damagedRows() == 1)
    #expect(store.recoveryNeed == .damaged)
    #expect(try await store.comparison.drives().map(\.hasDamage) == [true])
  }

  @Test("when a large store is compared with its logs, then unfinished drives and damaged rows of drives are found")
  func drives() async throws {
    for _ in 0..<3 { try save(2) }
    try await store.database.write { try $0.execute(sql: "UPDATE drive SET ended_at = 1 WHERE id <> 2") }
    try await store.damage("UPDATE drive SET stop_reason = 'user' WHERE id = 3")
    let quick = try await store.comparison.drives()
    #expect(quick.map(\.isUnfinished) == [false, true, false])
    #expect(quick.map(\.hasDamage) == [false, false, true])
    try store.repair()
    let whole = try await store.comparison.drives()
    #expect(whole.map(\.isUnfinished) == [false, true, false])
    #expect(whole.map(\.hasDamage) == [false, false, true])
  }
}
