import Coverage
import Export
import Store
import TestSupport
import Testing

@testable import Service
@testable import coverage_probe

/// Which speed tests an export or a report has.
struct ChosenSpeedTestsTests {
  private let folder: TemporaryFolder
  private let store: DriveStore

  /// Two drives of a minute, an hour between their starts.
  init() async throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    for hour in 0..<2 {
      var recorder = try DriveRecorder(
        store, started: .sampleStart.later(by: .seconds(3600 * hour)), log: nil, link: nil)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
        fences: [.sample(number: 0, entered: 0)], seen: .seconds(60))
      try recorder.end(at: .seconds(60), reason: .user)
    }
    try await add("before", drive: 1, at: -1)
    try await add("first", drive: 1, at: 0)
    try await add("last", drive: 1, at: 60)
    try await add("behind", drive: 1, at: 61)
    try await add("other", drive: 2, at: 3610)
    try await add("alone", drive: nil, at: 30, sent: true)
    try await add("running", drive: 1, at: 40, ended: false)
  }

  private func add(_ uuid: String, drive: Int64?, at second: Int, ended: Bool = true, sent: Bool = false) async throws {
    let time = WallTime.sampleStart.later(by: .seconds(second))
    var start = SpeedTestOutbox.Start(
      controlServer: "https://host/", clientUUID: "C", testUUID: uuid, token: "t", started: time)
    start.drive = drive
    let id = try await store.speedTests.begin(start)
    guard ended else { return }
    try await store.speedTests.end(id, .init(.completed, at: time, figures: .sample()))
    if sent { try await store.speedTests.markSubmitted(id, .result, at: time) }
  }

  private func chosen(
    _ selection: ExportSelection, sessions: Set<Int64> = [], filter: FenceFilter = FenceFilter()
  ) throws -> [String] {
    try ChosenSpeedTests(StoreReader(store), selection: selection, sessions: sessions, filter: filter)
      .tests.map(\.testUUID)
  }

  @Test("when sessions are selected, then each has the tests of its drive that began during it")
  func sessions() throws {
    #expect(try chosen(.all) == ["before", "first", "last", "behind", "other", "alone"])
    #expect(try chosen(.all, sessions: [1]) == ["first", "last"])
    #expect(try chosen(.all, sessions: [2]) == ["other"])
    #expect(try chosen(.all, sessions: [1, 2]) == ["first", "last", "other"])
    #expect(try chosen(.all, sessions: [9]).isEmpty)
  }

  @Test("when a state is selected, then tests in other states are only counted, and a running test is left out")
  func states() throws {
    let sent = try ChosenSpeedTests(StoreReader(store), selection: .submitted, filter: FenceFilter())
    #expect(sent.tests.map(\.testUUID) == ["alone"] && sent.ofOtherState == 5)
    #expect(try chosen(.pending).count == 5)
  }

  @Test("when links are selected, then no test is chosen, because tests have no link")
  func links() throws {
    var filter = FenceFilter()
    filter.links = ["A"]
    #expect(try chosen(.all, filter: filter).isEmpty)
  }
}
