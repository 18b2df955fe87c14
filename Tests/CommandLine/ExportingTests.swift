import Coverage
import Export
import Foundation
import Settings
import TestSupport
import Testing

@testable import Service
@testable import Store
@testable import coverage_probe

/// `export` and `sessions`: which fences and sessions of a store a user gets (README.md, Use).
struct ExportingTests {
  private let folder: TemporaryFolder
  private let configuration: ProbeConfiguration

  init() throws {
    folder = try TemporaryFolder()
    configuration = .sample(in: folder)
  }

  private func open() throws -> DriveStore {
    try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test")
  }

  /// Four drives: sent, waiting with a fence on Wi-Fi, refused, and running.
  private func fill(_ store: DriveStore) async throws {
    for number in 0..<4 {
      var recorder = try DriveRecorder(
        store, started: .sampleStart.later(by: .seconds(3600 * number)), log: nil, link: number == 1 ? "B" : nil)
      try recorder.save(
        sessions: [
          Session(
            number: 0, testUUID: number == 0 ? "T0" : nil, started: .start,
            anchor: number == 0 ? .seconds(1) : nil, finalized: number < 3 ? .seconds(60) : nil)
        ],
        fences: (0..<3).map {
          .sample(
            number: $0, entered: Double($0) * 10, lasted: number == 3 && $0 == 2 ? nil : 4,
            isSubmittable: !(number == 1 && $0 == 0))
        }, seen: .seconds(60))
      if number < 3 { try recorder.end(at: .seconds(60), reason: .user) }
    }
    let sessions = try StoreReader(store).sessions().map(\.id)
    let now = WallTime.sampleStart.later(by: .seconds(5 * 3600))
    for (index, session) in [(0, sessions[0]), (2, sessions[2])] {
      try await store.outbox.makeBatches(of: [session], limit: 400, at: now)
      for batch in try await store.outbox.batches(of: [session], in: [.waiting]) {
        try await store.outbox.beginSending(batch: batch.id, fences: batch.fences, client: "C", at: now)
        if index == 0 {
          try await store.outbox.markSubmitted(batch: batch.id, at: now)
        } else {
          try await store.outbox.quarantine(batch: batch, reason: "no such place", at: now)
        }
      }
    }
  }

  private func export(
    _ selection: ExportSelection, session: Int64? = nil, filter: FenceFilter = FenceFilter()
  ) throws -> (lines: [[String: Any]], count: Exporting.Count) {
    var bytes: [UInt8] = []
    let counts = try Exporting(
      configuration: configuration, selection: selection, sessions: session.map { [$0] } ?? [], filter: filter
    ).run(format: .jsonl) { bytes += $0 }
    let lines = try bytes.split(separator: UInt8(ascii: "\n")).map {
      try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
    }
    return (lines, counts)
  }

  @Test("when ranges follow each other, then every fence has the distance that it has in all of them together")
  func ranges() async throws {
    let store = try open()
    defer { withExtendedLifetime(store) {} }
    for link in ["A", "B"] {
      var recorder = try DriveRecorder(store, started: .sampleStart, log: nil, link: link)
      let sessions = (0..<2).map {
        Session(number: $0, testUUID: nil, started: .seconds(Double($0) * 40), anchor: nil, finalized: .seconds(300))
      }
      // The fifth one comes after a jump, the eighth one has no former one.
      let fences = (0..<10).filter { $0 != 6 }.map { number in
        Fence.sample(
          number: number, session: number < 4 ? 0 : 1, entered: Double(number) * 10,
          latitude: 48.2 + Double(number) * 0.0002 + (number < 4 ? 0 : 1))
      }
      try recorder.save(sessions: sessions, fences: fences, seen: .seconds(300))
      try recorder.end(at: .seconds(300), reason: .user)
    }
    func distances(_ filter: FenceFilter = FenceFilter()) throws -> [Int: Double?] {
      let lines = try export(.all, filter: filter).lines
      return try lines.reduce(into: [:]) { try $0[#require($1["id"] as? Int)] = .some($1["distance_m"] as? Double) }
    }
    let whole = try distances()
    #expect(whole.count == 18 && whole.values.count { $0 != nil } == 12)
    for cut in 0...10 {
      var (before, after) = (FenceFilter(), FenceFilter())
      (before.to, after.from) = (.sampleStart.later(by: .seconds(cut * 10)), .sampleStart.later(by: .seconds(cut * 10)))
      let parts = try distances(before).merging(distances(after)) { first, _ in first }
      #expect(parts == whole, "cut before fence \(cut)")
    }
  }

  @Test("when fences are selected by state, then those are written, the others counted, and the open one is left out")
  func selections() async throws {
    let store = try open()
    try await fill(store)
    let submitted = try export(.submitted)
    #expect(submitted.lines.map { $0["test_uuid"] as? String } == ["T0", "T0", "T0"])
    #expect((submitted.count.written, submitted.count.ofOtherState) == (3, 8))
    let pending = try export(.pending)
    #expect((pending.count.written, pending.count.ofOtherState) == (7, 4), "a fence on Wi-Fi is never sent")
    #expect(pending.lines.allSatisfy { $0["submittable"] as? Bool == true })
    let all = try export(.all)
    #expect((all.count.written, all.count.ofOtherState, all.count.open) == (11, 0, 1))
    let entered = all.lines.compactMap { $0["entered_at"] as? String }
    #expect(entered == entered.sorted() && entered.count == 11, "oldest first")
  }

  @Test(
    "when a drive has a target of its own, then it is settled as a submitted one is, and its fences name the target")
  func kept() async throws {
    let store = try open()
    try await fill(store)
    var recorder = try DriveRecorder(
      store, started: .sampleStart.later(by: .seconds(36_000)), log: nil,
      target: DriveTarget(.icmp, host: "192.0.2.1"))
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
      fences: [.sample(number: 0), .sample(number: 1, entered: 20, isSubmittable: false)], seen: .seconds(60))
    try recorder.end(at: .seconds(60), reason: .user)
    let settled = try export(.settled)
    #expect(settled.lines.map { $0["target"] as? String } == [nil, nil, nil, "icmp 192.0.2.1"])
    #expect(settled.lines.allSatisfy { $0["submittable"] as? Bool == true })
    #expect(try export(.kept).lines.map { $0["session"] as? Int } == [5])
    #expect(try export(.submitted).count.written == 3 && export(.pending).count.written == 7)
    #expect(try export(.all).lines.count == 13)
    let listing = try SessionListing(configuration: configuration)
    #expect(listing.table.contains("kept") && listing.table.contains("\n    not submitted: icmp 192.0.2.1"))
    #expect(listing.json.contains(#""target":"icmp 192.0.2.1""#) && listing.json.contains(#""state":"kept""#))
  }

  @Test("when one session is chosen, then only its fences count")
  func oneSession() async throws {
    let store = try open()
    try await fill(store)
    let one = try export(.all, session: 2)
    #expect(one.lines.map { $0["session"] as? Int } == [2, 2, 2])
    #expect(one.lines.allSatisfy { $0["link"] as? String == "B" })
    #expect((one.count.written, one.count.ofOtherState) == (3, 0))
    #expect(try export(.submitted, session: 2).count.ofOtherState == 3)
  }

  @Test("when conditions exclude fences, then they are counted apart if there is no other fence")
  func conditions() async throws {
    let store = try open()
    try await fill(store)
    var filter = FenceFilter()
    filter.links = ["B"]
    let ofLink = try export(.all, filter: filter)
    #expect(ofLink.lines.map { $0["session"] as? Int } == [2, 2, 2])
    #expect((ofLink.count.written, ofLink.count.filteredOut, ofLink.count.ofOtherState) == (3, 0, 0))
    let sent = try export(.submitted, filter: filter)
    #expect((sent.count.written, sent.count.filteredOut, sent.count.ofOtherState) == (0, 0, 3))
    let two = try Exporting(configuration: configuration, selection: .all, sessions: [1, 3]).run(format: .csv) { _ in }
    #expect((two.written, two.filteredOut) == (6, 0))
    try await store.database.write { db in
      try db.execute(sql: "UPDATE fence SET row_checksum = row_checksum + 1 WHERE session_id = 1")
    }
    filter.links = ["C"]
    let none = try export(.submitted, filter: filter).count
    #expect((none.written, none.filteredOut, none.ofOtherState) == (0, 11, 0), "damaged ones are stored too")
    let damaged = try export(.all, session: 1).count
    #expect((damaged.written, damaged.filteredOut, damaged.ofOtherState) == (0, 11, 0))
  }

  @Test("when a map is made, then it has the speed tests of the selection too, and other formats have none")
  func speedTests() async throws {
    let store = try open()
    try await fill(store)
    for (number, second) in [(1, 10), (1, 20), (3, 7210)] {
      let time = WallTime.sampleStart.later(by: .seconds(second))
      var start = SpeedTestOutbox.Start(
        controlServer: "http://host", clientUUID: "C", testUUID: "T\(second)", token: "t", started: time)
      start.drive = Int64(number)
      let id = try await store.speedTests.begin(start)
      try await store.speedTests.end(id, .init(.completed, at: time, figures: .sample()))
      if second == 10 { try await store.speedTests.markSubmitted(id, .result, at: time) }
    }
    let map = MapOptions(leaflet: try leaflet())
    func count(_ selection: ExportSelection, _ sessions: Set<Int64> = []) throws -> [Int] {
      var page: [UInt8] = []
      let count = try Exporting(configuration: configuration, selection: selection, sessions: sessions)
        .run(format: .html, map: map) { page += $0 }
      #expect(String(decoding: page, as: UTF8.self).ranges(of: "\"test_uuid\":\"T").count == count.speedTests)
      return [count.speedTests, count.speedTestsOfOtherState]
    }
    #expect(try count(.submitted) == [1, 2])
    #expect(try count(.pending) == [2, 1])
    #expect(try count(.all) == [3, 0])
    #expect(try count(.all, [1]) == [2, 0])
    #expect(try export(.all).count.speedTests == 0)
  }

  /// A folder with the names of the map library's files.
  private func leaflet() throws -> String {
    _ = try folder.write("", to: "README")
    _ = try folder.write("var L = {}", to: "leaflet.js")
    _ = try folder.write(".leaflet {}", to: "leaflet.css")
    return folder.path
  }

  @Test(
    "when there is no such session, then the error says which command lists them", arguments: [0, -1, 5, Int64.max])
  func noSession(id: Int64) async throws {
    let store = try open()
    try await fill(store)
    let error = #expect(throws: ExportError.self) { try export(.all, session: id) }
    #expect(error?.description == "there is no session \(id); coverage-probe sessions lists them")
  }

  @Test("when the state directory is missing, then the error is one line that names it, and nothing is created")
  func missing() throws {
    let error = #expect(throws: StoreError.self) { try export(.all) }
    let line = try #require(error).description
    #expect(line.contains(configuration.stateDirectory) && !line.contains("\n"), "\(line)")
    #expect(throws: StoreError.self) { try SessionListing(configuration: configuration) }
    #expect(!FileManager.default.fileExists(atPath: configuration.stateDirectory))
  }

  @Test("when the output fails in the middle, then the export ends with that error")
  func writeFails() async throws {
    let store = try open()
    try await fill(store)
    let full = OutputError(path: "fences.geojson", code: ENOSPC)
    for format in ExportFormat.allCases {
      #expect(throws: full) {
        try Exporting(configuration: configuration, selection: .all).run(format: format) { _ in throw full }
      }
    }
  }

  // MARK: sessions

  @Test("when sessions are listed, then the table shows their states, and the session of a killed process is pending")
  func table() async throws {
    do {
      let store = try open()
      try await fill(store)
      let rows = try SessionListing(configuration: configuration).table.split(separator: "\n")
      #expect(
        rows == [
          "id  started               link  fences  state        test",
          "1   2026-11-20T10:00:00Z  -     3       submitted    T0",
          "2   2026-11-20T11:00:00Z  B     3       pending      -",
          "3   2026-11-20T12:00:00Z  -     3       quarantined  -",
          "    3 fences quarantined: no such place",
          "4   2026-11-20T13:00:00Z  -     3       recording    -",
        ])
      withExtendedLifetime(store) {}
    }
    let rows = try SessionListing(configuration: configuration).table.split(separator: "\n")
    #expect(rows.last?.contains(" pending ") == true, "no process writes any more")
  }

  @Test("when sessions are listed as JSON, then keys without a value are left out, and all counts are present")
  func json() async throws {
    let store = try open()
    try await fill(store)
    let text = try SessionListing(configuration: configuration).json
    let list = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    #expect(list.map { $0["state"] as? String } == ["submitted", "pending", "quarantined", "recording"])
    #expect(list[0]["anchor_at"] as? String == "2026-11-20T10:00:01.000Z")
    #expect(list[0]["submitted_at"] as? String == "2026-11-20T15:00:00.000Z")
    #expect(list[0]["submitted_fences"] as? Int == 3)
    #expect(list[1]["link"] as? String == "B")
    #expect(list[1]["submittable_fences"] as? Int == 2)
    #expect(list[1]["test_uuid"] == nil && list[1]["anchor_at"] == nil && list[1]["submitted_at"] == nil)
    #expect(list[2]["quarantine_reason"] as? String == "no such place")
    #expect(list[3]["finalized_at"] == nil)
    withExtendedLifetime(store) {}
  }

  @Test("when nothing is stored, then the table says so, and the JSON is an empty array")
  func empty() throws {
    let store = try open()
    let listing = try SessionListing(configuration: configuration)
    #expect(listing.table == "no sessions stored")
    #expect(listing.json == "[]")
    withExtendedLifetime(store) {}
  }

  @Test("when all fences of a session were on Wi-Fi, then the table says that there is nothing to send")
  func nothingToSend() throws {
    let store = try open()
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(9))],
      fences: [.sample(isSubmittable: false)], seen: .seconds(9))
    #expect(try SessionListing(configuration: configuration).table.hasSuffix("\n    nothing to send"))
  }
}
