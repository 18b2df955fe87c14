import Coverage
import TestSupport
import Testing

@testable import DriveStore

/// The fences of recent drives as they end.
struct LiveReadingTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private var reader: StoreReader { StoreReader(store) }

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  /// A drive with one session; fences without an end are open.
  private func drive(at seconds: Int, link: String? = nil, fences: [Bool]) throws {
    var recorder = try DriveRecorder(store, started: .sampleStart.later(by: .seconds(seconds)), log: nil, link: link)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)],
      fences: fences.enumerated().map { .sample(number: $0, entered: Double($0) * 4, lasted: $1 ? 4 : nil) },
      seen: .seconds(60))
  }

  @Test("when there is no drive, then there is no newest one, and no fence")
  func empty() throws {
    #expect(try reader.newestDrive() == nil && reader.newestFence() == 0 && reader.firstOpenFence(fromDrive: 0) == nil)
    #expect(try reader.endedFences(after: 0, fromDrive: 0, limit: 9).isEmpty)
  }

  @Test("when two links began together, then the newest drive is the first of both")
  func links() throws {
    try drive(at: 0, fences: [true])
    try drive(at: 500, link: "A", fences: [true, false])
    try drive(at: 500, link: "B", fences: [true])
    let newest = try #require(try reader.newestDrive())
    #expect(try reader.endedFences(after: 0, fromDrive: newest, limit: 9).map(\.id) == [2, 4])
    #expect(try reader.endedFences(after: 0, fromDrive: newest, limit: 9).map(\.session.link) == ["A", "B"])
    #expect(try reader.firstOpenFence(fromDrive: newest) == 3 && reader.newestFence() == 4)
  }

  @Test("when a number of fences is asked for, then they are the lowest above the id, of all sessions together")
  func limit() throws {
    try drive(at: 0, fences: [true, true, true])
    try drive(at: 500, fences: [true, true])
    #expect(try reader.endedFences(after: 1, fromDrive: 0, limit: 3).map(\.id) == [2, 3, 4])
    #expect(try reader.endedFences(after: 4, fromDrive: 0, limit: 3).map(\.id) == [5])
    #expect(try reader.endedFences(after: 0, fromDrive: 99, limit: 3).isEmpty)
  }

  @Test("when a fence is damaged, then it is left out, and the others are there")
  func damaged() async throws {
    try drive(at: 0, fences: [true, true, true])
    try await store.database.write {
      try $0.execute(sql: "DROP TRIGGER fence_updated; UPDATE fence SET pings = 7 WHERE id = 2")
    }
    #expect(try reader.endedFences(after: 0, fromDrive: 0, limit: 9).map(\.id) == [1, 3])
  }
}
