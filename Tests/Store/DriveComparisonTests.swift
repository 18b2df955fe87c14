import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// Signs of loss in the drives of a store. They tell a recovery which logs to read.
struct DriveComparisonTests {
  private let folder: TemporaryFolder
  private let store: DriveStore

  /// A drive of three fences that ended with its last one, and was sent with two of them.
  init() async throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
    var recorder = try DriveRecorder(
      store, started: .sampleStart, log: "/elsewhere/drives/a.jsonl", link: "modem")
    try recorder.save(
      sessions: [Session(number: 0, testUUID: "T1", started: .seconds(2), anchor: .start, finalized: .seconds(22))],
      fences: (0..<3).map { .sample(number: $0, entered: 10 + Double($0) * 4) }, seen: .seconds(22))
    try recorder.end(at: .seconds(22), reason: .user)
    try await store.outbox.makeBatches(of: [1], limit: 2, at: .sampleStart)
    try await store.outbox.beginSending(batch: 1, fences: 2, client: "C", at: .sampleStart)
    try await store.outbox.markSubmitted(batch: 1, at: .sampleStart)
  }

  private func drive() async throws -> ComparableDrive { try #require(try await store.comparison.drives().first) }

  struct Signs: OptionSet, Sendable {
    let rawValue: Int
    static let unfinished = Signs(rawValue: 1)
    static let damage = Signs(rawValue: 2)
    static let gaps = Signs(rawValue: 4)
    static let waiting = Signs(rawValue: 8)
  }

  private func signs(_ drive: ComparableDrive) -> Signs {
    var signs: Signs = []
    if drive.isUnfinished { signs.insert(.unfinished) }
    if drive.hasDamage { signs.insert(.damage) }
    if drive.hasGaps { signs.insert(.gaps) }
    if drive.isWaiting { signs.insert(.waiting) }
    return signs
  }

  // MARK: Signs of a loss

  @Test("when a drive is whole in the store, then it shows no sign of a loss")
  func whole() async throws {
    let drive = try await drive()
    #expect(signs(drive) == [.waiting])
    #expect(drive.started == .sampleStart && drive.link == "modem")
    #expect(drive.log == store.directory.driveLogs + "/a.jsonl", "where the directory is now")
  }

  private static let losses: [(sql: String, signs: Signs)] = [
    ("UPDATE drive SET ended_at = NULL", [.unfinished, .gaps, .waiting]),
    // The first, a middle and the last fence.
    ("DELETE FROM fence WHERE number = 0", [.gaps, .waiting]),
    ("DELETE FROM fence WHERE number = 1", [.gaps, .waiting]),
    ("DELETE FROM fence WHERE number = 2", [.gaps]),
    ("DELETE FROM fence", [.gaps]),
    // Without the rows behind it, the last fence does not end with the drive.
    ("UPDATE drive SET ended_at = ended_at + 1", [.gaps, .waiting]),
    // A batch that left with more fences than it has.
    ("UPDATE batch SET sent_fences = 3 WHERE id = 1", [.gaps, .waiting]),
    ("UPDATE batch SET sent_fences = 3, state = 'quarantined' WHERE id = 1", [.gaps, .waiting]),
    ("UPDATE batch SET sent_fences = 3, state = 'sending' WHERE id = 1", [.gaps, .waiting]),
    // A batch that was never sent, or was split into others, has no gap.
    ("UPDATE batch SET sent_fences = 3, state = 'waiting' WHERE id = 1", [.waiting]),
    ("UPDATE batch SET sent_fences = 3, state = 'replaced' WHERE id = 1", [.waiting]),
    // Nothing to send.
    ("UPDATE fence SET submitted_at = 1", []),
    ("UPDATE fence SET submittable = 0", []),
  ]

  @Test("when the store lacks part of a drive, then the drive shows the matching sign", arguments: losses)
  func signsOfLoss(_ sql: String, _ expected: Signs) async throws {
    try await store.database.write { try $0.execute(sql: sql) }
    #expect(signs(try await drive()) == expected)
  }

  private static let damages: [(sql: String, signs: Signs)] = [
    ("UPDATE fence SET pings = 99 WHERE number = 2", [.damage, .waiting]),
    // The batch was sent with this fence; a damaged fence no longer counts as part of it.
    ("UPDATE fence SET pings = 99 WHERE number = 0", [.damage, .gaps, .waiting]),
    ("UPDATE session SET loop_uuid = 'L2'", [.gaps, .waiting]),
    ("UPDATE drive SET stop_reason = 'b'", [.damage, .waiting]),
    ("UPDATE drive SET ended_at = NULL", [.damage, .gaps, .waiting]),
  ]

  @Test(
    "when a row is damaged, then its drive shows it, and a damaged drive has neither a start nor a link",
    arguments: damages)
  func signsOfDamage(_ sql: String, _ expected: Signs) async throws {
    try await store.damage(sql)
    let drive = try await drive()
    #expect(signs(drive) == expected)
    let isDriveWhole = !sql.contains("UPDATE drive")
    #expect(drive.started == (isDriveWhole ? .sampleStart : nil))
    #expect(drive.link == (isDriveWhole ? "modem" : nil))
  }

  @Test("when fences name a session that is missing, then their drive shows a gap")
  func missingSession() async throws {
    try await store.database.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF; DELETE FROM batch; DELETE FROM session; PRAGMA foreign_keys = ON")
    }
    #expect(signs(try await drive()).contains(.gaps))
  }

  @Test("when there are several drives, then a loss in one is no sign of a loss in another")
  func severalDrives() async throws {
    var second = try DriveRecorder(store, started: .sampleStart, log: nil)
    try second.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(14))], fences: [.sample()],
      seen: .seconds(14))
    try second.end(at: .seconds(14), reason: .user)
    _ = try DriveRecorder(store, started: .sampleStart, log: nil)
    try await store.database.write { try $0.execute(sql: "DELETE FROM fence WHERE drive_id = 1 AND number = 1") }
    let drives = try await store.comparison.drives()
    #expect(drives.map(\.id) == [1, 2, 3])
    #expect(drives.map(signs) == [[.gaps, .waiting], [.waiting], [.unfinished, .gaps]])
    #expect(drives.map(\.log) == [store.directory.driveLogs + "/a.jsonl", nil, nil])
  }

  // MARK: Marks

  @Test("when the fences of a drive are compared, then only intact ones on Earth are there, in their order")
  func fenceMarks() async throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    let places = [48.1, 48.2, 48.3, 48.4]
    try recorder.save(
      sessions: [Session(number: 0, started: .start)],
      fences: [3, 1, 0, 2].map { number in
        .sample(
          number: number, entered: Double(number) * 10, lasted: number == 3 ? nil : 4, latitude: places[number])
      }, seen: .seconds(31))
    try await store.damage("UPDATE fence SET pings = 99 WHERE drive_id = 2 AND number = 1")
    try await store.database.write {
      try $0.execute(sql: "UPDATE fence SET latitude = 480 WHERE drive_id = 2 AND number = 2")
    }
    let marks = try await store.comparison.fenceMarks(of: 2)
    #expect(marks.map(\.number) == [0, 3])
    #expect(marks.map(\.entered) == [.sampleStart, .sampleStart.later(by: .seconds(30))])
    #expect(marks.map(\.place.latitude) == [48.1, 48.4])
    #expect(marks.map(\.isOpen) == [false, true])
    #expect(try await store.comparison.fenceMarks(of: 7).isEmpty)
  }

  @Test(
    "when the sessions of a drive are compared, then intact ones have their start and test, damaged ones are absent")
  func sessionMarks() async throws {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [
        Session(number: 0, testUUID: "T7", started: .start, anchor: .start), Session(number: 1, started: .seconds(9)),
        Session(number: 2, started: .seconds(10)),
      ], fences: [], seen: .start)
    try await store.damage("UPDATE session SET loop_uuid = 'L2' WHERE drive_id = 2 AND number = 2")
    let marks = try await store.comparison.sessionMarks(of: 2)
    #expect(
      Set(marks) == [
        SessionMark(number: 0, started: .sampleStart, test: "T7"),
        SessionMark(number: 1, started: .sampleStart.later(by: .seconds(9)), test: nil),
      ])
  }
}
