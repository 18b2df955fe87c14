import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// Batches of several sessions: which fences and which test each gets, and which rows stay unchanged.
struct OutboxTests {
  private let side: OutboxStore
  private var outbox: Outbox { side.outbox }

  init() throws { side = try OutboxStore() }

  // MARK: Making batches

  @Test("when batches are made of one session, then each free fence of it is in one, and no other fence is")
  func freeFences() async throws {
    let other = try side.session(test: "T0")
    let session = try side.session(test: "T1", fences: OutboxStore.fences(6))
    try await side.batches(of: session, limit: 1)
    // One each: in a batch, sent, touched by Wi-Fi, open; two are free.
    try await side.change(
      """
      UPDATE fence SET batch_id = NULL WHERE session_id = \(session) AND number > 0;
      DELETE FROM batch WHERE id > 1;
      UPDATE fence SET submitted_at = 5 WHERE session_id = \(session) AND number = 1;
      UPDATE fence SET submittable = 0 WHERE session_id = \(session) AND number = 2;
      UPDATE fence SET exited_at = NULL WHERE session_id = \(session) AND number = 3;
      """)
    let made = try await side.batches(of: session)
    #expect(try made.map { try side.reader.fences(of: $0).map(\.number) } == [[0], [4, 5]])
    #expect(try await side.all(of: other).isEmpty)
    #expect(try side.stored(other).waitingFences == 2)
  }

  @Test("when a fence is at a pole or on the date line, then it is on Earth and can be sent")
  func edgesOfEarth() async throws {
    let places: [(Double, Double)] = [(90, 0), (-90, 0), (0, 180), (0, -180)]
    let session = try side.session(
      fences: places.enumerated().map { number, place in
        .sample(number: number, entered: 10 + Double(number) * 4, latitude: place.0, longitude: place.1)
      })
    #expect(try await side.batches(of: session).map(\.fences) == [4])
    #expect(try side.stored(session).quarantinedFences == 0)
  }

  @Test(
    "when a latitude or a longitude is impossible, then this fence is quarantined, and no other",
    arguments: ["latitude = 90.1", "latitude = -91", "longitude = 180.1", "longitude = -181"])
  func offEarth(_ place: String) async throws {
    let session = try side.session(fences: OutboxStore.fences(3))
    try await side.change("UPDATE fence SET \(place) WHERE number = 1")
    try await side.batches(of: session)
    let made = try await outbox.batches(of: [session], in: [.waiting])
    #expect(try made.map { try side.reader.fences(of: $0).map(\.number) } == [[0, 2]])
    #expect(try side.stored(session).quarantinedFences == 1)
  }

  @Test("when a fence is damaged, then no batch gets it")
  func damagedFence() async throws {
    let session = try side.session(fences: OutboxStore.fences(3))
    try await side.store.damage("UPDATE fence SET pings = 99 WHERE number = 1")
    try await side.batches(of: session)
    #expect(try await side.value("SELECT count(*) FROM fence WHERE batch_id IS NOT NULL") == 2)
    #expect(try await side.value("SELECT batch_id IS NULL FROM fence WHERE number = 1") == true)
  }

  @Test(
    "when rows are damaged, then a batch is read without damaged fences, and not at all without an intact parent row",
    arguments: [
      ("UPDATE batch SET troubles = 7", []), ("UPDATE session SET loop_uuid = 'L'", []),
      ("UPDATE drive SET log = 'b'", []), ("UPDATE fence SET pings = 99 WHERE number = 0", [2]),
      ("UPDATE fence SET pings = 99", []),
    ] as [(String, [Int])])
  func damagedRows(_ sql: String, _ fences: [Int]) async throws {
    let session = try side.session(fences: OutboxStore.fences(3))
    #expect(try await side.batches(of: session).map(\.fences) == [3])
    try await side.store.damage(sql)
    let waiting = try await side.all(of: session)
    #expect(try waiting.map { try side.reader.fences(of: $0).count } == fences, "what is sent")
    try await side.change("UPDATE batch SET state = 'sending'")
    #expect(try await side.all(of: session).map(\.fences) == fences, "what the server's history is compared with")
  }

  @Test("when another batch names the session's test, then its unsent fences are those of the test, and no others")
  func fencesByTest() async throws {
    let session = try side.session(test: "T1", fences: OutboxStore.fences(5))
    #expect(try await outbox.fencesByTest(of: session) == ["t1": 0])
    let made = try await side.batches(of: session, limit: 2)
    #expect(made.map { $0.test?.uuid } == ["T1", nil, nil])
    #expect(try await outbox.fencesByTest(of: session) == ["t1": 2])
    try await side.anchor(made[1].id, "T2")
    #expect(try await outbox.fencesByTest(of: session) == ["t1": 2, "t2": 2])
    try await outbox.markSubmitted(batch: made[0].id, at: .sampleStart)
    #expect(try await outbox.fencesByTest(of: session) == ["t1": 2, "t2": 2])
    try await side.store.damage("UPDATE batch SET troubles = 7 WHERE id = \(made[1].id)")
    #expect(try await outbox.fencesByTest(of: session) == ["t1": 2, "t2": 2], "its fences may be those that arrived")
  }

  @Test("when sent fences were deleted to make room, then their test says nothing about the other fences")
  func deletedFences() async throws {
    let session = try side.session(test: "T1", fences: OutboxStore.fences(5))
    let made = try await side.batches(of: session, limit: 2)
    try await side.anchor(made[1].id, "T2")
    for batch in made.prefix(2) {
      try await outbox.beginSending(batch: batch.id, fences: 2, client: "C", at: .sampleStart)
      try await outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    }
    #expect(try await outbox.fencesByTest(of: session) == ["t1": 2, "t2": 2])
    try await side.change("UPDATE session SET finalized_at = 5; UPDATE drive SET ended_at = 5")
    #expect(try await side.store.space.keepWithin(Quota(fences: 4), except: nil).fences == 1)
    #expect(try await outbox.fencesByTest(of: session) == ["t2": 2])
  }

  @Test("when the fences of a session fill whole batches, then no empty batch is made", arguments: [1, 2, 4])
  func wholeBatches(_ limit: Int) async throws {
    let session = try side.session(fences: OutboxStore.fences(4))
    try await side.batches(of: session, limit: limit)
    #expect(try await side.value("SELECT count(*) FROM batch") == 4 / limit)
    #expect(try await side.all(of: session).allSatisfy { $0.fences == limit && $0.troubles == 0 && $0.attempt == 0 })
  }

  // MARK: The session's own test

  @Test("when several sessions have tests, then the first batch of each gets the test of its own session")
  func ownTests() async throws {
    let sessions = try ["T1", nil, "T3"].map { try side.session(test: $0) }
    var tests: [[String?]] = []
    for session in sessions { try await side.batches(of: session, limit: 1) }
    for session in sessions { tests.append(try await side.all(of: session).map { $0.test?.uuid }) }
    #expect(tests == [["T1", nil], [nil, nil], ["T3", nil]])
  }

  @Test("when the session's test has no anchor, then no batch uses it: its offsets would relate to nothing")
  func withoutAnchor() async throws {
    let session = try side.session(test: "T1", isAnchored: false)
    try side.session(test: "T2")
    #expect(try await side.batches(of: session).map(\.test) == [nil])
    #expect(try await side.value("SELECT count(*) FROM batch WHERE test_uuid IS NOT NULL") == 0)
  }

  @Test("when a fence of the session was sent by a batch that is lost, then the session's test is not used again")
  func lostBatch() async throws {
    let session = try side.session(test: "T1")
    try await side.change("UPDATE fence SET submitted_at = 5 WHERE number = 0")
    #expect(try await side.batches(of: session).map(\.test) == [nil])
  }

  @Test("when another session's fences were sent, then this session's test can still be used")
  func othersSent() async throws {
    let other = try side.session(test: "T1")
    try await side.change("UPDATE fence SET submitted_at = 5")
    let session = try side.session(test: "T2")
    #expect(try await side.batches(of: session).map { $0.test?.uuid } == ["T2"])
    #expect(try await side.all(of: other).isEmpty)
  }

  // MARK: Tests that were used

  @Test("when known tests are read, then they are those of batches and of partly sent sessions, in lower case")
  func knownTests() async throws {
    let sent = try side.session(test: "Sent")
    try side.session(test: "Unsent")
    let damaged = try side.session(test: "Damaged")
    let batched = try side.session(test: "Batched")
    try await side.change("UPDATE fence SET submitted_at = 5 WHERE session_id IN (\(sent), \(damaged)) AND number = 0")
    try await side.batches(of: batched)
    try await side.store.damage(
      "UPDATE session SET loop_uuid = 'L' WHERE id = \(damaged); UPDATE batch SET troubles = 7")
    #expect(try await outbox.knownTests() == ["sent", "batched"])
  }

  @Test("when a batch gets a test, then its session uses it only if it had none, and no other session does")
  func anchoring() async throws {
    let (own, without, other) = (try side.session(test: "T1"), try side.session(), try side.session())
    let batches = try await side.batches(of: own, limit: 1) + side.batches(of: without, limit: 1)
    try await side.anchor(batches[1].id, "T2")
    #expect(try side.stored(own).session.testUUID == "T1")
    try await side.anchor(batches[2].id, "T3")
    #expect(try side.stored(without).session.testUUID == "T3")
    #expect(try side.stored(without).session.anchor == .seconds(7))
    try await side.anchor(batches[3].id, "T4")
    #expect(try side.stored(without).session.testUUID == "T3")
    #expect(try side.stored(other).session.testUUID == nil)
    let tests = try await side.all(of: own).map { $0.test?.uuid } + side.all(of: without).map { $0.test?.uuid }
    #expect(tests == ["T1", "T2", "T3", "T4"])
  }

  @Test("when a batch gets its own test again, then only its anchor moves, and its session's with it")
  func sameTestAgain() async throws {
    let session = try side.session(test: "T1")
    try side.session(test: "T2")
    let batch = try #require(try await side.batches(of: session).first)
    try await side.anchor(batch.id, "T1", at: 9)
    #expect(try await side.all(of: session).map(\.test?.anchor) == [.sampleStart.later(by: .seconds(9))])
    #expect(try side.stored(session).session.anchor == .seconds(9))
    #expect(try await side.all(of: session).map(\.client) == ["C-T1"])
  }

  @Test("when a test belongs to another session or batch, or to both, then a batch cannot get it")
  func usedTests() async throws {
    let first = try side.session(test: "T1")
    let second = try side.session()
    try await side.batches(of: first)
    let batch = try #require(try await side.batches(of: second).first)
    try side.session(test: "T2")
    for used in ["T1", "T2"] {
      await #expect(throws: StoreError.usedTest(used)) { try await side.anchor(batch.id, used) }
    }
    #expect(try await side.all(of: second).map(\.test) == [nil], "nothing changed")
    #expect(try side.stored(second).session.testUUID == nil)
  }

  // MARK: Clients

  private func doubtedClient(_ session: Int64) async throws -> String? {
    try await side.batches(of: session)
    _ = try await side.store.lostBatches.doubtUnsent()
    return try await side.value("SELECT client_uuid FROM batch")
  }

  @Test("when a batch is in doubt, then its client is that of its session, not the registered one")
  func clients() async throws {
    let session = try side.session()
    try await side.change("UPDATE session SET client_uuid = 'S'")
    try await side.store.servers.setClientUUID("R", at: "https://one")
    #expect(try await doubtedClient(session) == "S")
  }

  @Test(
    "when the session's client is unknown or damaged, then the registered client counts, if there is exactly one",
    arguments: [
      ("UPDATE session SET client_uuid = NULL", "R"), ("UPDATE session SET client_uuid = 'X'", "R"),
      ("UPDATE registration SET client_uuid = 'X'", nil), ("DELETE FROM registration", nil),
      ("INSERT INTO registration (control_server, client_uuid) VALUES ('https://two', 'Q')", nil),
    ] as [(String, String?)])
  func onlyClient(_ sql: String, _ client: String?) async throws {
    let session = try side.session()
    try await side.store.servers.setClientUUID("R", at: "https://one")
    // 'X' is damage, past the triggers; the other changes are regular writes.
    if sql.contains("'X'") { try await side.store.damage(sql) } else { try await side.change(sql) }
    #expect(try await doubtedClient(session) == client)
  }

  @Test("when the registration at a server is damaged, then its client and its cursor count as unknown")
  func damagedRegistration() async throws {
    try await side.store.servers.setClientUUID("R", at: "https://one")
    try await side.store.servers.setHistoryCursor(7, at: "https://one")
    try await side.store.damage("UPDATE registration SET history_cursor = 8, client_uuid = 'X'")
    #expect(try await side.store.servers.clientUUID(at: "https://one") == nil)
    #expect(try await side.store.servers.historyCursor(at: "https://one") == nil)
  }
}
