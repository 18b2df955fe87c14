import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Reading fences page by page gives the same fences as reading all at once.
struct StoredFencesTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private var reader: StoreReader { StoreReader(store) }

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  private func record(sessions: Int, fences: Int) throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: (0..<sessions).map {
        Session(number: $0, testUUID: "T\($0)", started: .start, anchor: .seconds(1), finalized: .seconds(100))
      },
      fences: (0..<fences).map {
        .sample(
          number: $0, session: $0 % sessions, entered: 10 + Double($0) * 4, latitude: 48.2 + Double($0 % 7) / 100,
          longitude: 16.3 + Double($0 % 5) / 100, technology: ["4G/LTE", nil, "5G/NR"][$0 % 3])
      },
      seen: .seconds(100))
  }

  private func streamed(_ session: Int64) throws -> [StoredFence] {
    var conditions = FenceConditions()
    conditions.sessions = [session]
    return try streamed(where: conditions)
  }

  private func streamed(where conditions: FenceConditions = FenceConditions()) throws -> [StoredFence] {
    var fences: [StoredFence] = []
    var stored = StoredFences(reader, where: conditions)
    stored.size = FencePages.Size(sessions: 3, fences: 10)
    try stored.forEach { fences.append($0) }
    return fences
  }

  private func expectTheSame() throws {
    let whole = try reader.sessions().flatMap { try reader.fences(of: $0) }
    let parts = try streamed()
    #expect(parts.map(\.id) == whole.map(\.id))
    #expect(parts.map(\.fence) == whole.map(\.fence) && parts.map(\.submitted) == whole.map(\.submitted))
    #expect(parts.map(\.session.session) == whole.map(\.session.session))
  }

  @Test("when there are more sessions and fences than a page holds, then each is read once, in order")
  func pages() throws {
    try record(sessions: 1, fences: 23)
    try record(sessions: 8, fences: 80)
    try expectTheSame()
    #expect(try streamed().count == 103)
    #expect(try streamed(1).count == 23)
    #expect(try streamed(9999).isEmpty)
  }

  @Test(
    "when rows are damaged, then the same fences are left out, and the same tests are omitted",
    arguments: [
      "UPDATE fence SET pings = pings + 1 WHERE number = 1", "UPDATE session SET test_uuid = 'X' WHERE number = 1",
      "UPDATE drive SET started_at = 1", "UPDATE batch SET test_uuid = 'X' WHERE id = 1",
      "UPDATE batch SET anchor_at = 5 WHERE id = 2",
    ])
  func damaged(_ change: String) async throws {
    try record(sessions: 3, fences: 30)
    let sessions = try reader.sessions().map(\.id)
    try await store.outbox.makeBatches(of: sessions, limit: 4, at: .sampleStart)
    let batches = try await store.outbox.batches(of: sessions, in: [.waiting])
    for (index, batch) in batches.enumerated() where index.isMultiple(of: 2) {
      try await store.outbox.anchor(
        batch: batch.id, test: .init(uuid: "B\(index)", anchor: .sampleStart), loopUUID: nil, client: "C")
      try await store.outbox.beginSending(batch: batch.id, fences: 4, client: "C", at: .sampleStart)
      try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    }
    try expectTheSame()
    try await store.damage(change)
    try expectTheSame()
  }

  @Test("when conditions are set, then exactly the intact fences that meet all of them are read")
  func conditions() async throws {
    try record(sessions: 3, fences: 60)
    try record(sessions: 2, fences: 20)
    try await store.damage("UPDATE fence SET entered_at = entered_at + 1 WHERE number = 7")
    try await store.damage("UPDATE fence SET technology = '4G/LTF' WHERE number = 9")
    let all = try streamed()
    let times = all.map { $0.session.driveStarted + $0.fence.entered }.sorted()
    for (from, to) in [(nil, nil), (times[20], nil), (nil, times[30]), (times[20], times[50]), (times[5], times[5])] {
      for sessions in [[], [2], [1, 4]] as [Set<Int64>] {
        for names in [[], ["NONE"], ["4G/LTE"], ["4G/LTE", "NONE", "5G/NR"]] as [Set<String>] {
          var conditions = FenceConditions()
          (conditions.from, conditions.to, conditions.sessions) = (from, to, sessions)
          conditions.technologies = names
          (conditions.latitudes, conditions.longitudes) = (48.205...48.235, 16.305...16.335)
          let expected = all.filter { stored in
            let time: WallTime = stored.session.driveStarted + stored.fence.entered
            return from.map { $0 <= time } ?? true && to.map { time < $0 } ?? true
              && (sessions.isEmpty || sessions.contains(stored.session.id))
              && (names.isEmpty || names.contains(stored.fence.technology?.name ?? "NONE"))
              && (48.205...48.235).contains(stored.fence.centre.latitude)
              && (16.305...16.335).contains(stored.fence.centre.longitude)
          }
          #expect(try streamed(where: conditions).map(\.id) == expected.map(\.id))
        }
      }
    }
    #expect(try StoredFences(reader).count() == 80)
    var ofLink = FenceConditions()
    ofLink.links = ["no such link"]
    #expect(try streamed(where: ofLink).isEmpty)
  }
}
