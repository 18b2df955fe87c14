import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// Recovery of lost and damaged rows from a drive log.
struct DriveRecoveryTests {
  private static let fences = (0..<4).map { Fence.sample(number: $0, entered: 10 + Double($0) * 4) }
  private static let session = Session(
    number: 0, testUUID: "T1", started: .seconds(2), anchor: .seconds(3), finalized: .seconds(30), equipment: .sample)
  private let folder: TemporaryFolder
  private let store: DriveStore
  private var reader: StoreReader { StoreReader(store) }
  private let now = WallTime.sampleStart.later(by: .seconds(500))

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  private func logged(
    sessions: [Session] = [session], fences: [Fence] = fences,
    stopped: (at: DriveTime, reason: StopReason)? = (.seconds(30), .user)
  ) -> LoggedDrive {
    LoggedDrive(
      log: "/state/drives/a.jsonl", started: .sampleStart, link: "modem", target: nil, sessions: sessions,
      fences: fences,
      accepted: [], stopped: stopped)
  }

  /// The same drive as its process recorded it.
  private func record(_ fences: [Fence] = fences, isEnded: Bool = true) throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: "/state/drives/a.jsonl", link: "modem")
    try recorder.save(sessions: [Self.session], fences: fences, seen: .seconds(26))
    if isEnded { try recorder.end(at: .seconds(30), reason: .user) }
  }

  private func recover(_ logged: LoggedDrive, as drive: Int64? = 1) async throws -> Int {
    try await store.recover(logged, as: drive, started: .sampleStart, at: now).fences
  }

  private func delete(_ condition: String) async throws {
    try await store.database.write { try $0.execute(sql: "DELETE FROM fence WHERE \(condition)") }
  }

  private func read<Value: DatabaseValueConvertible & Sendable>(_ sql: String) async throws -> [Value?] {
    try await store.database.read { try Optional<Value>.fetchAll($0, sql: sql) }
  }

  private func fences() throws -> [StoredFence] {
    try reader.fences(of: try #require(try reader.sessions().first))
  }

  /// All rows, as text.
  private func content() async throws -> [String] {
    try await store.database.read { db in
      try ["drive", "session", "batch", "fence"].flatMap { table in
        try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY id").map { "\(table) \($0)" }
      }
    }
  }

  // MARK: Fences

  @Test("when the store lacks nothing, then its rows stay as they are")
  func nothingLacks() async throws {
    try record()
    let before = try await content()
    #expect(try await recover(logged()) == 0)
    #expect(try await content() == before)
  }

  @Test("when the store has nothing of a drive, then the log restores all of it, once")
  func wholeDrive() async throws {
    let result = try await store.recover(logged(), as: nil, started: .sampleStart, at: now)
    #expect(result.drive == 1 && result.fences == 4)
    let session = try #require(try reader.sessions().first)
    #expect(session.session == Self.session && session.link == "modem")
    #expect(try fences().map(\.fence) == Self.fences)
    #expect(try await read("SELECT recovered_at FROM fence") == [Int64?](repeating: now.microseconds, count: 4))
    #expect(try await read("SELECT stop_reason FROM drive") == ["user" as String?])
    #expect(try await read("SELECT ended_at FROM drive") == [WallTime.sampleStart.microseconds + 30_000_000 as Int64?])
    #expect(try await recover(logged()) == 0)
  }

  @Test("when single fences are lost, then these come back, and only they count as recovered", arguments: 0..<4)
  func singleFence(_ number: Int) async throws {
    try record()
    try await delete("number = \(number)")
    #expect(try await recover(logged()) == 1)
    #expect(try fences().map(\.fence) == Self.fences)
    #expect(try await read("SELECT number FROM fence WHERE recovered_at IS NOT NULL") == [number as Int?])
  }

  @Test("when any fences of a long drive are lost or damaged, then exactly these come back")
  func anyFences() async throws {
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    let fences = (0..<40).map { Fence.sample(number: $0, entered: 10 + Double($0) * 4) }
    try record(fences)
    for _ in 0..<8 {
      let numbers = fences.map(\.number).filter { _ in Bool.random(using: &random) }
      let damaged = numbers.filter { _ in Bool.random(using: &random) }
      try await delete("number IN (\(Set(numbers).subtracting(damaged).map(String.init).joined(separator: ", ")))")
      try await store.damage(
        "UPDATE fence SET pings = pings + 1 WHERE number IN (\(damaged.map(String.init).joined(separator: ", ")))")
      #expect(try await recover(logged(fences: fences)) == numbers.count)
      #expect(try self.fences().map(\.fence) == fences)
      let ids = try self.fences().map(\.id)
      #expect(ids == ids.sorted())
    }
  }

  @Test(
    "when the log cannot give back the first of several lost fences, then the others get their own ids all the same")
  func ownIDs() async throws {
    let fences = (0..<6).map { Fence.sample(number: $0, entered: 10 + Double($0) * 4) }
    try record(fences)
    try await delete("number IN (1, 2, 3)")
    #expect(try await recover(logged(fences: fences.filter { $0.number != 1 })) == 2)
    #expect(try await read("SELECT id FROM fence ORDER BY number") == [1, 3, 4, 5, 6] as [Int?])
    #expect(try reader.identity()?.lastFence == 7, "an export now is later than one before")
    #expect(try await recover(logged(fences: fences.filter { $0.number != 1 })) == 0)
    #expect(try reader.identity()?.lastFence == 7)
  }

  @Test("when fences of one of two links are lost, then they get ids between its others again; the first one cannot")
  func idsOfLinks() async throws {
    var links = try ["modem", "other"].map { try DriveRecorder(store, started: .sampleStart, log: nil, link: $0) }
    for fence in Self.fences {
      for link in links.indices { try links[link].save(sessions: [Self.session], fences: [fence], seen: .seconds(26)) }
    }
    try await delete("drive_id = 1 AND number IN (1, 2)")
    #expect(try await recover(logged()) == 2)
    #expect(try await read("SELECT id FROM fence WHERE drive_id = 1 ORDER BY number") == [1, 3, 5, 7] as [Int?])
    try await delete("drive_id = 1 AND number = 0")
    #expect(try await recover(logged()) == 1)
    #expect(try await read("SELECT id FROM fence WHERE drive_id = 1 ORDER BY number") == [10, 3, 5, 7] as [Int?])
    #expect(try await read("SELECT id FROM fence WHERE drive_id = 2 ORDER BY number") == [2, 4, 6, 8] as [Int?])
  }

  @Test("when a fence is damaged, then the log's replaces it")
  func damagedFence() async throws {
    try record()
    try await store.damage("UPDATE fence SET pings = 99, latitude = 12 WHERE number = 2")
    #expect(try await recover(logged()) == 1)
    #expect(try fences().map(\.fence) == Self.fences)
    #expect(try reader.damagedRows() == 0)
  }

  @Test("when the store has another fence at the same time, then it stays, and the log's is not added")
  func overlappingFence() async throws {
    let other = Fence.sample(number: 7, entered: 11, lasted: 2, pings: 3, answered: 3)
    try record([other] + Self.fences.dropFirst())
    #expect(try await recover(logged()) == 0)
    #expect(Set(try fences().map(\.fence.number)) == [1, 2, 3, 7])
  }

  @Test("when a fence of the store ends exactly as the lost one begins, then both are there")
  func touchingFence() async throws {
    let before = Fence.sample(number: 7, entered: 6, lasted: 4)
    try record([before] + Self.fences.dropFirst())
    #expect(try await recover(logged()) == 1)
    #expect(Set(try fences().map(\.fence.number)) == [0, 1, 2, 3, 7])
  }

  @Test("when a fence is still open in the store and ended in the log, then it gets its end and its last figures")
  func openFence() async throws {
    let open = Fence.sample(number: 3, entered: 22, lasted: nil, pings: 3, answered: 3)
    try record(Self.fences.dropLast() + [open], isEnded: false)
    #expect(try await recover(logged()) == 1)
    #expect(try fences().map(\.fence) == Self.fences)
  }

  @Test("when the store has an open fence of another place, then the log's does not replace it")
  func openFenceElsewhere() async throws {
    let open = Fence.sample(number: 3, entered: 22, lasted: nil, latitude: 48.3)
    try record(Self.fences.dropLast() + [open], isEnded: false)
    #expect(try await recover(logged(stopped: nil)) == 0)
    #expect(try fences().last?.fence == open)
  }

  @Test("when the log has an open fence, then it is not recovered: it may have had more pings")
  func openInLog() async throws {
    try record()
    try await delete("number = 3")
    let open = Fence.sample(number: 3, entered: 22, lasted: nil)
    #expect(try await recover(logged(fences: Self.fences.dropLast() + [open])) == 0)
  }

  // MARK: Sessions and the drive

  @Test("when a session is damaged, then the log restores its times, and its fences belong to it again")
  func damagedSession() async throws {
    try record()
    try await store.damage("UPDATE session SET started_at = 7, loop_uuid = 'L2'")
    #expect(try await recover(logged()) == 0)
    let session = try #require(try reader.sessions().first)
    #expect(!session.isDamaged && session.session == Self.session)
    #expect(try fences().count == 4)
    #expect(
      try await read("SELECT recovered_at FROM session") == [AgeDeletion.notDated as Int64?], "it is dated later"
    )
  }

  @Test("when a session is lost, then the log restores it with its fences and their batch")
  func lostSession() async throws {
    try record()
    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    try await store.database.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF; DELETE FROM session; PRAGMA foreign_keys = ON")
    }
    #expect(try await recover(logged()) == 0)
    let session = try #require(try reader.sessions().first)
    #expect(session.fences == 4 && session.damagedFences == 0)
    #expect(try await store.outbox.batches(of: [session.id], in: [.waiting]).map(\.fences) == [4])
  }

  @Test("when the row of the drive is damaged, then the log restores it, and its fences keep their times")
  func damagedDrive() async throws {
    try record()
    try await store.damage("UPDATE drive SET started_at = 7, link = 'other', boot_id = 'B', started_boot_us = 5")
    #expect(try await recover(logged()) == 0)
    let session = try #require(try reader.sessions().first)
    #expect(!session.isDamaged && session.link == "modem" && session.driveStarted == .sampleStart)
    #expect(try fences().map(\.fence) == Self.fences)
    #expect(try await read("SELECT boot_id FROM drive") == [String?.none])
    #expect(try await read("SELECT stop_reason FROM drive") == ["user" as String?])
  }

  @Test("when an intact drive does not name its log, then it gets the log's path, and keeps its link")
  func movedLog() async throws {
    _ = try DriveRecorder(store, started: .sampleStart, log: nil, link: "other")
    _ = try await recover(logged())
    #expect(try await read("SELECT log FROM drive") == ["/state/drives/a.jsonl" as String?])
    #expect(try await read("SELECT link FROM drive") == ["other" as String?])
  }

  @Test("when a drive was ended as interrupted and its log has the stop, then it ends as the log says")
  func stopped() async throws {
    try record(Self.fences, isEnded: false)
    try await store.drives.endInterrupted()
    _ = try await recover(logged(stopped: nil))
    #expect(try await read("SELECT stop_reason FROM drive") == ["interrupted" as String?], "a log without an end")
    _ = try await recover(logged(stopped: (.seconds(29), .duration)))
    #expect(try await read("SELECT stop_reason FROM drive") == ["duration" as String?])
    _ = try await recover(logged(stopped: (.seconds(28), .user)))
    #expect(try await read("SELECT stop_reason FROM drive") == ["duration" as String?], "a known end stays")
  }

  // MARK: Fences that were sent

  /// The states of the batches of the recovered fences, `none` for no batch, and whether the fences count as sent.
  private func sending() async throws -> (state: String, isSent: Bool) {
    let rows = try store.database.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT DISTINCT coalesce(state, 'none') AS state, submitted_at IS NOT NULL AS is_sent
          FROM fence LEFT JOIN batch ON batch.id = batch_id WHERE fence.recovered_at IS NOT NULL
          """)
    }
    let row = try #require(rows.first)
    #expect(rows.count == 1)
    return (row["state"], row["is_sent"])
  }

  /// What happened to the drive's only batch before two of its four fences were lost.
  enum Sending: Sendable, CaseIterable {
    case none, waiting, left, sent, refused
  }

  @Test(
    "when lost fences may have been sent in a batch, then they are recovered in its state, and never sent twice",
    arguments: [
      (Sending.none, "none", false), (.waiting, "none", false), (.left, "sending", false), (.sent, "submitted", true),
      (.refused, "quarantined", false),
    ])
  func batch(_ sending: Sending, _ state: String, _ isSent: Bool) async throws {
    try record()
    if sending != .none { try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart) }
    if let batch = try await store.outbox.batches(of: [1], in: [.waiting]).first, sending != .waiting {
      try await store.outbox.beginSending(batch: batch.id, fences: 4, client: "C", at: .sampleStart)
      if sending == .sent { try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart) }
      if sending == .refused { try await store.outbox.quarantine(batch: batch, reason: "no", at: .sampleStart) }
    }
    try await delete("number IN (1, 2)")
    #expect(try await recover(logged()) == 2)
    let found = try await self.sending()
    #expect(found.state == state && found.isSent == isSent)
    let session = try #require(try reader.sessions().first)
    #expect((session.submitted != nil) == (sending == .sent), "the session counts them")
  }

  @Test("when damage may have removed a batch with its fences, then they are in doubt until the server is asked")
  func mayHaveLeft() async throws {
    try record()
    try await delete("number IN (1, 2)")
    try store.noteRollback()
    #expect(try await recover(logged()) == 2)
    let batch = try #require(try await store.outbox.batches(of: [1], in: [.sending]).first)
    #expect(batch.isLost && batch.fences == 2 && batch.testInQuestion == "T1")
    #expect(try await sending() == ("sending", false))
  }

  @Test("when more fences are lost than a sent batch lacks, then all of them are quarantined")
  func tooMany() async throws {
    try record()
    try await store.outbox.makeBatches(of: [1], limit: 2, at: .sampleStart)
    try await store.outbox.beginSending(batch: 1, fences: 2, client: "C", at: .sampleStart)
    try await store.outbox.markSubmitted(batch: 1, at: .sampleStart)
    try await delete("number IN (1, 2)")
    #expect(try await recover(logged()) == 2)
    #expect(try await sending() == ("quarantined", false))
    let reason = try #require(try reader.sessions().first?.quarantineReason)
    #expect(reason.contains("1 of these fences may have been sent"))
  }

  @Test(
    "when sent fences were deleted to make room and come back from a log without an answer, then they are quarantined")
  func deletedBefore() async throws {
    try record()
    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    try await store.outbox.beginSending(batch: 1, fences: 4, client: "C", at: .sampleStart)
    try await store.outbox.markSubmitted(batch: 1, at: .sampleStart)
    #expect(try await store.space.keepWithin(Quota(fences: 2), except: nil).fences == 2)
    try store.noteRollback()
    #expect(try await recover(logged()) == 2)
    #expect(try await sending() == ("quarantined", false))
    #expect(try reader.sessions().first?.quarantineReason?.contains("some of these fences may have been sent") == true)
  }

  @Test("when several sent batches together lack all lost fences, then these count as sent, without a batch")
  func severalBatches() async throws {
    try record()
    try await store.outbox.makeBatches(of: [1], limit: 2, at: .sampleStart)
    for batch in try await store.outbox.batches(of: [1], in: [.waiting]) {
      try await store.outbox.beginSending(batch: batch.id, fences: 2, client: "C", at: .sampleStart)
      try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    }
    try await delete("number IN (1, 2)")
    #expect(try await recover(logged()) == 2)
    #expect(try await sending() == ("none", true))
  }

  @Test("when a lost fence was touched by Wi-Fi, then it is recovered, and is in no batch")
  func touchedByWiFi() async throws {
    let fences = Self.fences.dropLast() + [Fence.sample(number: 3, entered: 22, isSubmittable: false)]
    try record(Array(fences))
    try await store.outbox.makeBatches(of: [1], limit: 400, at: .sampleStart)
    try await store.outbox.beginSending(batch: 1, fences: 4, client: "C", at: .sampleStart)
    try await delete("number = 3")
    #expect(try await recover(logged(fences: Array(fences))) == 1)
    #expect(try await sending() == ("none", false))
  }
}
