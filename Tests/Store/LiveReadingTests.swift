import Coverage
import TestSupport
import Testing

@testable import Store

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

  @Test(
    "when a number of fences is requested, then those with the lowest ids above the given one are read, of all sessions"
  )
  func limit() throws {
    try drive(at: 0, fences: [true, true, true])
    try drive(at: 500, fences: [true, true])
    #expect(try reader.endedFences(after: 1, fromDrive: 0, limit: 3).map(\.id) == [2, 3, 4])
    #expect(try reader.endedFences(after: 4, fromDrive: 0, limit: 3).map(\.id) == [5])
    #expect(try reader.endedFences(after: 0, fromDrive: 99, limit: 3).isEmpty)
  }

  @Test("when a follower goes on, then the last fences that it has are those of each link of the drive, and ended")
  func lastFences() throws {
    #expect(try reader.lastFences(upTo: 9).isEmpty)
    try drive(at: 0, fences: [true])
    try drive(at: 500, link: "A", fences: [true, true, false])
    try drive(at: 500, link: "B", fences: [true, true])
    #expect(try reader.lastFences(upTo: 1).map(\.id) == [1])
    #expect(try reader.lastFences(upTo: 2).map(\.id) == [2], "of that drive only")
    #expect(try reader.lastFences(upTo: 5).map(\.id) == [3, 5])
    #expect(try reader.lastFences(upTo: 9).map(\.id) == [3, 6])
    #expect(try reader.lastFences(upTo: 9).map(\.session.link) == ["A", "B"])
  }

  @discardableResult private func test(_ uuid: String, drive: Int64? = nil, at seconds: Int = 0) async throws -> Int64 {
    var start = SpeedTestOutbox.Start(
      controlServer: "http://host", clientUUID: "C", testUUID: uuid, token: "t",
      started: .sampleStart.later(by: .seconds(seconds)))
    start.drive = drive
    return try await store.speedTests.begin(start)
  }

  @Test("when speed tests follow a drive, then the first of them is of that drive, or began since without a drive")
  func firstSpeedTest() async throws {
    #expect(try reader.firstSpeedTest(fromDrive: 0) == 1, "there is no test: the next one")
    try drive(at: 0, fences: [true])
    try drive(at: 500, fences: [true])
    try await test("alone before")
    try await test("of the first", drive: 1, at: 10)
    #expect(try reader.firstSpeedTest(fromDrive: 1) == 1)
    #expect(try reader.firstSpeedTest(fromDrive: 2) == 3, "none yet: the next one")
    try await test("alone since", at: 510)
    try await test("of the second", drive: 2, at: 520)
    #expect(try reader.firstSpeedTest(fromDrive: 2) == 3 && reader.firstSpeedTest(fromDrive: 0) == 1)
    #expect(try reader.drive(ofFence: 2) == 2 && reader.drive(ofFence: 9) == nil)
    #expect(try reader.speedTests(ids: [4, 2, 9]).map(\.testUUID) == ["of the first", "of the second"])
    #expect(try reader.speedTests(ids: []).isEmpty)
  }

  @Test("when a speed test advances, then its version changes, and those of the others stay")
  func versions() async throws {
    let (id, other) = (try await test("A"), try await test("B"))
    var seen: [[SpeedTestVersion]] = []
    func note() throws { seen.append(try reader.speedTestVersions(from: 0)) }
    try note()
    try await store.speedTests.end(id, .init(.completed, at: .sampleStart, figures: .sample()))
    try note()
    try await store.speedTests.add(qos: "[]", to: id)
    try note()
    try await store.speedTests.beginSending(id, .result, at: .sampleStart)
    try note()
    try await store.speedTests.release(id, .result)
    try note()
    try await store.speedTests.noteTrouble(id)
    try note()
    try await store.speedTests.markSubmitted(id, .result, at: .sampleStart)
    try note()
    #expect(Set(seen.map { $0[0].text }).count == seen.count && seen.allSatisfy { $0[0].id == id })
    #expect(Set(seen.map { $0[1] }).count == 1)
    #expect(try reader.speedTestVersions(from: other).map(\.id) == [other])
  }

  @Test("when a speed test is damaged, then it has a version, and no result")
  func damagedTest() async throws {
    let id = try await test("A")
    let version = try reader.speedTestVersions(from: 0)
    try await store.damage(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'attempt INTEGER NOT NULL', 'attempt INTEGER') WHERE name = 'speed_test';
      PRAGMA writable_schema = RESET;
      UPDATE speed_test SET attempt = NULL
      """)
    #expect(try reader.speedTestVersions(from: 0).map(\.id) == [id] && reader.speedTestVersions(from: 0) != version)
    #expect(try reader.speedTests(ids: [id]).isEmpty)
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
