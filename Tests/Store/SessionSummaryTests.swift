import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// Changes that sending a batch makes in its row and in the row of its session.
struct SessionSummaryTests {
  private let side: OutboxStore
  private var outbox: Outbox { side.outbox }

  init() throws { side = try OutboxStore() }

  private func submit(_ batch: Batch, at seconds: Double = 0) async throws {
    try await outbox.markSubmitted(batch: batch.id, at: .sampleStart + DriveTime.seconds(seconds))
  }

  // MARK: The batch

  @Test(
    "when a batch is sent several times, then each attempt counts, and the first client and the last request are stored"
  )
  func attempts() async throws {
    let session = try side.session(fences: OutboxStore.fences(3))
    let batch = try #require(try await side.batches(of: session).first)
    #expect(batch.sent == nil && batch.sentFences == nil && batch.client == nil)
    for (number, client) in ["C1", "C2", "C3"].enumerated() {
      try await outbox.beginSending(
        batch: batch.id, fences: 3 - number, client: client, at: .sampleStart.later(by: .seconds(number)))
      let sending = try #require(try await side.all(of: session).first)
      #expect(sending.state == .sending && !sending.isLost)
      #expect(sending.attempt == number + 1 && sending.sentFences == 3 - number && sending.client == "C1")
      #expect(sending.sent == .sampleStart.later(by: .seconds(number)))
      try await outbox.release(batch: batch.id)
    }
    #expect(try await side.all(of: session).map(\.state) == [.waiting])
  }

  @Test("when sending a batch fails, then each error answer counts, and other failures count once")
  func troubles() async throws {
    let session = try side.session()
    let batch = try #require(try await side.batches(of: session).first)
    var seen: [Int] = []
    for isAnswer in [false, false, true, false, true] {
      try await outbox.noteTrouble(batch: batch.id, isAnswer: isAnswer)
      seen.append(try await side.all(of: session)[0].troubles)
    }
    #expect(seen == [1, 1, 2, 2, 3])
  }

  @Test("when batches are read, then each has the number and the first entry of its own fences")
  func figures() async throws {
    let first = try side.session(fences: OutboxStore.fences(5))
    let second = try side.session(fences: OutboxStore.fences(1))
    let batches = try await side.batches(of: first, limit: 3) + side.batches(of: second)
    #expect(batches.map(\.fences) == [3, 2, 1])
    #expect(batches.map { $0.earliest.since($0.driveStarted) } == [.seconds(10), .seconds(22), .seconds(10)])
    #expect(batches.map(\.session) == [first, first, second])
  }

  @Test("when another batch has submitted fences of a waiting batch, then these are not counted or sent")
  func sentByAnother() async throws {
    let session = try side.session(fences: OutboxStore.fences(3))
    let batch = try #require(try await side.batches(of: session).first)
    try await side.change("UPDATE fence SET submitted_at = 5 WHERE number = 0")
    #expect(try await side.all(of: session).map(\.fences) == [2])
    #expect(try side.reader.fences(of: batch).map(\.number) == [1, 2])
    try await submit(batch)
    #expect(try await side.all(of: session).map(\.fences) == [3], "a submitted batch has all of its fences")
    #expect(try await outbox.batches(of: [session], in: [.waiting]).isEmpty)
  }

  @Test("when a batch is in doubt, then it counts as lost only if its row has no attempt")
  func doubt() async throws {
    let session = try side.session(test: "T1")
    let batch = try #require(try await side.batches(of: session).first)
    #expect(!batch.isLost && batch.testInQuestion == "T1")
    try await outbox.beginSending(batch: batch.id, fences: 2, client: "C", at: .sampleStart)
    #expect(try await side.all(of: session).map(\.isLost) == [false])
    try await side.change("UPDATE batch SET attempt = 0")
    #expect(try await side.all(of: session).map(\.isLost) == [true])
    try await side.change("UPDATE batch SET anchor_at = NULL")
    let lost = try #require(try await side.all(of: session).first)
    #expect(lost.test == nil && lost.testInQuestion == "T1", "known by name only")
  }

  @Test("when a batch is split, then both halves keep its trouble count, and its own row is replaced")
  func splitting() async throws {
    let session = try side.session(fences: OutboxStore.fences(3))
    let batch = try #require(try await side.batches(of: session).first)
    try await outbox.noteTrouble(batch: batch.id, isAnswer: true)
    let parts = try await outbox.split(batch: try #require(try await side.all(of: session).first))
    #expect(parts.map(\.troubles) == [1, 1])
    #expect(try parts.map { try side.reader.fences(of: $0).map(\.number) } == [[0, 1], [2]])
    #expect(try await side.value("SELECT state FROM batch WHERE id = \(batch.id)") == "replaced")
    let single = try await outbox.split(batch: parts[1])
    #expect(try single.map { try side.reader.fences(of: $0).map(\.number) } == [[2]], "one fence makes one part")
  }

  // MARK: The session

  @Test("when some fences were touched by Wi-Fi, then the session is submitted when all others are")
  func withWiFi() async throws {
    let wifi = Fence.sample(number: 2, entered: 18, isSubmittable: false)
    let session = try side.session(fences: OutboxStore.fences(2) + [wifi])
    let other = try side.session()
    let batches = try await side.batches(of: session, limit: 1)
    try await submit(batches[0], at: 50)
    #expect(try side.stored(session).submitted == nil)
    try await submit(batches[1], at: 60)
    #expect(try side.stored(session).submitted == .sampleStart.later(by: .seconds(60)))
    #expect(try side.stored(other).submitted == nil)
  }

  @Test("when one session is sent and another has unsent fences, then each has its own state")
  func twoSessions() async throws {
    let (first, second) = (try side.session(test: "T1"), try side.session(test: "T2"))
    let batches = try await side.batches(of: first) + side.batches(of: second)
    try await outbox.quarantine(batch: batches[1], reason: "no", at: .sampleStart)
    try await submit(batches[0], at: 50)
    #expect(try side.stored(first).submitted == .sampleStart.later(by: .seconds(50)))
    #expect(try side.stored(first).quarantineReason == nil, "another session's refusal is not its own")
    #expect(
      try await side.value("SELECT quarantined_at IS NULL FROM session WHERE id = \(first)") == true)
    #expect(try side.stored(second).submitted == nil && side.stored(second).quarantineReason == "no")
    #expect(try side.stored(first).session.testUUID == "T1" && side.stored(second).session.testUUID == "T2")
  }

  @Test("when an unsent fence is damaged, then the session is submitted with the others; the damaged fence is not")
  func damagedUnsent() async throws {
    let session = try side.session(fences: OutboxStore.fences(3))
    let batch = try #require(try await side.batches(of: session).first)
    try await side.store.damage("UPDATE fence SET pings = 99 WHERE number = 1")
    try await submit(batch)
    #expect(try side.stored(session).submitted == .sampleStart)
    #expect(try await side.value("SELECT submitted_at IS NULL FROM fence WHERE number = 1") == true)
  }

  @Test("when all fences of a session are damaged, then it does not count as submitted")
  func allDamaged() async throws {
    let session = try side.session(fences: OutboxStore.fences(2))
    let batches = try await side.batches(of: session, limit: 1)
    try await submit(batches[0])
    try await side.store.damage("UPDATE fence SET pings = 99")
    try await submit(batches[1], at: 50)
    #expect(try side.stored(session).submitted == nil)
  }

  @Test("when another session is submitted, then a session without sent fences is not")
  func nothingSent() async throws {
    let other = try side.session()
    for batch in try await side.batches(of: other) { try await submit(batch) }
    let session = try side.session(fences: OutboxStore.fences(1))
    let batch = try #require(try await side.batches(of: session).first)
    try await side.change("UPDATE fence SET submittable = 0 WHERE session_id = \(session)")
    try await outbox.quarantine(batch: batch, reason: "no", at: .sampleStart)
    #expect(try side.stored(session).submitted == nil)
  }

  @Test("when several batches of a session are refused, then its time and its reason are those of the first")
  func refusals() async throws {
    let session = try side.session(fences: OutboxStore.fences(3))
    let batches = try await side.batches(of: session, limit: 1)
    for (number, batch) in batches.prefix(2).enumerated() {
      try await outbox.quarantine(
        batch: batch, reason: "reason \(number)", at: .sampleStart.later(by: .seconds(number)))
    }
    #expect(try side.stored(session).quarantineReason == "reason 0")
    #expect(
      try await side.value("SELECT quarantined_at FROM session WHERE id = \(session)")
        == WallTime.sampleStart.microseconds)
    try await outbox.reopen(batches: [batches[0]], at: .sampleStart)
    #expect(try side.stored(session).quarantineReason == "reason 1")
    #expect(try await side.value("SELECT state FROM batch WHERE id = \(batches[0].id)") == "replaced")
    #expect(try side.stored(session).quarantinedFences == 1 && side.stored(session).waitingFences == 2)
  }

  @Test("when a refused batch is accepted later, then its reason is removed")
  func takenAfterAll() async throws {
    let session = try side.session()
    let batch = try #require(try await side.batches(of: session).first)
    try await outbox.quarantine(batch: batch, reason: "no", at: .sampleStart)
    try await submit(batch)
    #expect(try await side.value("SELECT reason IS NULL FROM batch") == true)
    #expect(try side.stored(session).quarantineReason == nil && side.stored(session).submitted == .sampleStart)
  }

  // MARK: The session's test

  @Test("when the batch of the session's test was split, then the session takes the first test of a part that was sent")
  func nameOfParts() async throws {
    let other = try side.session(test: "T0")
    let session = try side.session(test: "T1", fences: OutboxStore.fences(3))
    for batch in try await side.batches(of: other) { try await submit(batch) }
    let batch = try #require(try await side.batches(of: session).first)
    let parts = try await outbox.split(batch: batch)
    for (part, test) in zip(parts, ["T5", "T6"]) { try await side.anchor(part.id, test) }
    #expect(try side.stored(session).session.testUUID == "T1")
    try await submit(parts[0])
    #expect(try side.stored(session).session.testUUID == "T5")
    try await submit(parts[1])
    #expect(try side.stored(session).session.testUUID == "T5")
    #expect(try side.stored(other).session.testUUID == "T0")
    #expect(try await side.value("SELECT client_uuid FROM session WHERE id = \(session)") == "C-T5")
  }

  @Test("when a batch without a test is marked as sent, then its session keeps its test")
  func withoutTest() async throws {
    let session = try side.session(test: "T1")
    let batches = try await side.batches(of: session, limit: 1)
    #expect(batches[1].test == nil)
    try await submit(batches[1])
    #expect(try side.stored(session).session.testUUID == "T1")
  }
}
