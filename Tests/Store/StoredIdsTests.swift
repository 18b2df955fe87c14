import Coverage
import TestSupport
import Testing

@testable import Store

/// The ids that people see in `sessions`, exports and `show`, and the progress of a recovery.
struct StoredIdsTests {
  private let folder: TemporaryFolder
  private let store: DriveStore

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  private func begin(_ number: Int) throws -> DriveRecorder {
    try DriveRecorder(store, started: .sampleStart.later(by: .seconds(3600 * number)), log: nil)
  }

  @Test("when rows are saved again and again, as in a drive, then ids of sessions and fences have no holes")
  func contiguous() throws {
    for drive in 0..<3 {
      var recorder = try begin(drive)
      for step in 0..<5 {
        let sessions = (0...min(1, step)).map { Session(number: $0, testUUID: "\(drive)-\($0)", started: .start) }
        let fences = (0...step).map { Fence.sample(number: $0, entered: Double($0) * 10) }
        for _ in 0..<3 { try recorder.save(sessions: sessions, fences: fences, seen: .seconds(60)) }
      }
      try recorder.end(at: .seconds(60), reason: .user)
    }
    let sessions = try StoreReader(store).sessions()
    #expect(sessions.map(\.id) == Array(1...6))
    let fences = try sessions.flatMap { try StoreReader(store).fences(of: $0) }
    #expect(fences.map(\.id).sorted() == Array(1...15))
  }

  @Test("when a session is forgotten, then its id is not given again: an id in a report names one session for ever")
  func forgotten() async throws {
    for drive in 0..<2 {
      var recorder = try begin(drive)
      try recorder.save(
        sessions: [Session(number: 0, started: .start)], fences: [.sample(entered: 1)], seen: .seconds(60))
      try recorder.end(at: .seconds(60), reason: .user)
    }
    try await store.database.write { db in
      try db.execute(sql: "DELETE FROM fence WHERE session_id = 2; DELETE FROM session WHERE id = 2")
    }
    var recorder = try begin(2)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)], fences: [.sample(entered: 1)], seen: .seconds(60))
    #expect(try StoreReader(store).sessions().map(\.id) == [1, 3])
  }

  @Test("when drives are compared with their logs, then the progress has each of them, and the end")
  func recovery() async throws {
    for drive in 0..<2 {
      var recorder = try begin(drive)
      try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [], seen: .seconds(1))
    }
    let seen = Collected<[Int]>()
    try await Recovery(
      store, maxAge: .seconds(60), logger: LogLines().logger,
      progress: { done, all in seen.append([done, all]) }
    ).run(at: .sampleStart.later(by: .seconds(9000)))
    #expect(seen.all == [[0, 2], [1, 2], [2, 2]])
  }
}
