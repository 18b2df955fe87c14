import Coverage
import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

@testable import Store

/// A quota on a real store and real files.
struct DroppingSlowTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  private func open(_ directory: StateDirectory? = nil) throws -> DriveStore {
    try DriveStore(directory: directory ?? self.directory, purpose: "a test")
  }

  /// A drive that is over, with its log.
  /// - Parameter log: Bytes of the log.
  @discardableResult
  private func record(
    _ store: DriveStore, fences: Int, sent: Bool, log: Int = 1000, ended: Bool = true
  ) async throws -> (id: Int64, log: String) {
    let drives = store.directory.driveLogs
    let path = drives + "/\(UUID().uuidString).jsonl"
    // A program that another test starts meanwhile must not inherit the file: it would keep the bytes of a deleted log.
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try #require(file >= 0 && posix_fallocate(file, 0, off_t(log)) == 0)
    close(file)
    let id = try await store.drives.next()
    var recorder = try DriveRecorder(store, started: .sampleStart.later(by: .seconds(9000 * id)), log: path)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: ended ? .seconds(8000) : nil)],
      fences: (0..<fences).map { .sample(number: $0, entered: 10 + Double($0)) }, seen: .seconds(8000))
    if ended { try recorder.end(at: .seconds(8000), reason: .user) }
    if sent {
      let sessions = try StoreReader(store).sessions().filter { $0.drive == recorder.drive }.map(\.id)
      try await store.outbox.makeBatches(of: sessions, limit: 400, at: .sampleStart)
      for batch in try await store.outbox.batches(of: sessions, in: [.waiting]) {
        try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
      }
    }
    return (recorder.drive, path)
  }

  private func fences(_ store: DriveStore) async throws -> [Int64: Int] {
    try await store.database.read { db in
      let rows = try Row.fetchAll(db, sql: "SELECT drive_id, count(*) AS fences FROM fence GROUP BY drive_id")
      return Dictionary(uniqueKeysWithValues: rows.map { ($0["drive_id"], $0["fences"]) })
    }
  }

  /// The bytes of the directory once the write-ahead log is empty.
  private func settledBytes(_ store: DriveStore) async throws -> Int64 {
    try await store.database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    return bytes(store.directory)
  }

  private func bytes(_ directory: StateDirectory) -> Int64 { directory.files.values.reduce(0, +) }
  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test("when there are too many bytes, then the oldest submitted fences go, and the files fit the quota")
  func submittedFences() async throws {
    let store = try open()
    let old = try await record(store, fences: 300, sent: true)
    let unsent = try await record(store, fences: 20, sent: false)
    let new = try await record(store, fences: 20, sent: true)
    let quota = Quota(bytes: try await settledBytes(store) - 20_000)
    let dropped = try await store.space.keepWithin(quota, except: nil)
    #expect(bytes(directory) <= quota.bytes)
    #expect(bytes(directory) > quota.bytes - 90_000, "little more than needed is deleted")
    #expect(dropped.isEnough && dropped.driveLogs == 0)
    #expect(dropped.bytes >= 20_000)
    let left = try await fences(store)
    #expect(left[old.id] == 300 - dropped.fences)
    #expect(left[unsent.id] == 20 && left[new.id] == 20)
    let first = try await store.database.read { [old] in
      try Int.fetchOne($0, sql: "SELECT min(number) FROM fence WHERE drive_id = ?", arguments: [old.id])
    }
    #expect(first == dropped.fences, "the oldest of them")
    #expect(try await store.space.keepWithin(quota, except: nil) == Dropped(), "once is enough")
    #expect(try StoreReader(store).damagedRows() == 0)
  }

  @Test("when there are too many bytes, then the oldest submitted speed tests go before fences, and unsent ones stay")
  func speedTests() async throws {
    let store = try open()
    let drive = try await record(store, fences: 20, sent: true)
    for number in 0..<6 {
      var figures = SpeedTestFigures.sample()
      figures.encryption = String(repeating: "x", count: 40_000)
      let id = try await store.speedTests.begin(
        .init(
          controlServer: "https://host/", clientUUID: "C", testUUID: "T\(number)", token: "t", started: .sampleStart))
      try await store.speedTests.end(id, .init(.completed, at: .sampleStart, figures: figures))
      guard number != 1 else { continue }
      try await store.speedTests.markSubmitted(id, .result, at: .sampleStart.later(by: .seconds(number)))
    }
    let quota = Quota(bytes: try await settledBytes(store) - 120_000)
    let dropped = try await store.space.keepWithin(quota, except: nil)
    #expect(dropped.isEnough && dropped.fences == 0 && (2...3).contains(dropped.speedTests), "\(dropped)")
    #expect(bytes(directory) <= quota.bytes)
    let left = try StoreReader(store).speedTests().map(\.testUUID).sorted()
    #expect(left == ["T1"] + (dropped.speedTests == 2 ? ["T3"] : []) + ["T4", "T5"])
    #expect(try await fences(store) == [drive.id: 20])
  }

  @Test("when deleting fences is not enough, then logs of ended and sent drives go, oldest first, and no others")
  func logs() async throws {
    let store = try open()
    let sent = try await [
      record(store, fences: 50, sent: true, log: 400_000), record(store, fences: 50, sent: true, log: 400_000),
    ]
    let unsent = try await record(store, fences: 50, sent: false, log: 400_000)
    let damaged = try await record(store, fences: 50, sent: true, log: 400_000)
    let late = try await record(store, fences: 50, sent: true, log: 400_000)
    let running = try await record(store, fences: 50, sent: false, log: 400_000, ended: false)
    let other = directory.driveLogs + "/of-no-drive.jsonl"
    try Data(count: 400_000).write(to: URL(fileURLWithPath: other))

    try await store.database.write { [damaged] db in
      try db.execute(
        sql: """
          DROP TRIGGER fence_updated;
          UPDATE fence SET pings = pings + 1 WHERE drive_id = \(damaged.id) AND number = 7
          """)
    }
    let some = try await store.space.keepWithin(Quota(bytes: settledBytes(store) - 300_000), except: running.id)
    #expect(some.fences == 199 && some.driveLogs == 1, "the damaged fence stays")
    #expect(!exists(sent[0].log) && exists(sent[1].log))
    let all = try await store.space.keepWithin(Quota(bytes: 1_000_000), except: running.id)
    #expect(all.driveLogs == 2 && !all.isEnough && all.bytesOver > 500_000)
    #expect(!exists(sent[1].log) && !exists(late.log))
    for path in [unsent.log, damaged.log, running.log, other] { #expect(exists(path)) }
    #expect(try await fences(store) == [unsent.id: 50, damaged.id: 1, running.id: 50])
    let none = try await store.space.keepWithin(Quota(bytes: 0, fences: 0), except: running.id)
    #expect(none.isNothing && none.fencesOver == 101)
  }

  /// A file that was last written `days` days ago.
  private func leave(_ name: String, _ days: Int, bytes: Int = 100_000) throws -> String {
    let path = directory.path + "/" + name
    try Data(count: bytes).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: Double(-86_400 * days))], ofItemAtPath: path)
    return path
  }

  @Test(
    "when fences are not enough, then stores set aside but the newest go, then logs of sent drives, then old logs without a drive"
  )
  func strays() async throws {
    let store = try open()
    let sent = try await record(store, fences: 20, sent: true, log: 100_000)
    let unsent = try await record(store, fences: 20, sent: false, log: 100_000)
    let aside = try [
      leave("coverage.sqlite.corrupt-C", 9), leave("coverage.sqlite.corrupt-C-wal", 9),
      leave("coverage.sqlite.corrupt-A", 5),
    ]
    let newest = try [leave("coverage.sqlite.corrupt-B", 2), leave("coverage.sqlite.corrupt-B-wal", 2)]
    let logs = try [leave("drives/a.jsonl", 8), leave("drives/b.jsonl", 7)]
    let young = try leave("drives/c.jsonl", 0)
    let order = [aside[0], aside[1], aside[2], sent.log] + logs
    for gone in 1...order.count {
      let quota = Quota(bytes: try await settledBytes(store) - 1000)
      #expect(try await store.space.keepWithin(quota, except: nil).isEnough)
      #expect(order.map { !exists($0) } == order.indices.map { $0 < gone }, "\(gone)")
    }
    #expect(try await !store.space.keepWithin(Quota(bytes: 0), except: nil).isEnough)
    for path in newest + [young, unsent.log] { #expect(exists(path)) }
    #expect(try await fences(store) == [unsent.id: 20])
  }

  @Test("when there are too many fences, then submitted ones go and their drive logs stay")
  func rows() async throws {
    let store = try open()
    let sent = try await record(store, fences: 100, sent: true)
    try await record(store, fences: 20, sent: false)
    let dropped = try await store.space.keepWithin(Quota(fences: 50), except: nil)
    #expect(dropped.fences == 70 && dropped.driveLogs == 0 && dropped.isEnough)
    #expect(try await fences(store).values.reduce(0, +) == 50)
    #expect(exists(sent.log))
    let rest = try await store.space.keepWithin(Quota(fences: 10), except: nil)
    #expect(rest.fences == 30 && rest.fencesOver == 10)
    #expect(try StoreReader(store).sessions().count == 1, "sessions go with their last fence")
  }

  @Test("when another process is reading, then submitted fences go at once, and the file shrinks later")
  func besideReader() async throws {
    let store = try open()
    try await record(store, fences: 300, sent: true)
    try await record(store, fences: 20, sent: false)
    var configuration = Configuration()
    configuration.readonly = true
    configuration.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(path: directory.database, configuration: configuration)
    let quota = Quota(bytes: try await settledBytes(store) - 20_000)
    try reader.inDatabase { try $0.execute(sql: "BEGIN; SELECT count(*) FROM drive") }
    #expect(try await store.space.keepWithin(quota, except: nil).isEnough)
    let left = try await fences(store).values.reduce(0, +)
    #expect(left >= 20 && left < 300)
    try reader.inDatabase { try $0.execute(sql: "COMMIT") }
    #expect(
      try await store.space.keepWithin(quota, except: nil).fences == 0, "a file that could not shrink costs no fence")
    #expect(bytes(directory) <= quota.bytes)
  }

  @Test(
    "when the disk is full, then deleting sent drives makes room, with or without reserve file, and unsent fences stay",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"), arguments: [true, false])
  func fullDisk(hasReserveFile: Bool) async throws {
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    try #require(mount("tmpfs", disk, "tmpfs", 0, "size=40m") == 0)
    defer { umount2(disk, CInt(MNT_DETACH)) }
    let small = StateDirectory(path: disk + "/state")
    let store = try open(small)
    let sent = try await [
      record(store, fences: 60, sent: true, log: 6 << 20), record(store, fences: 10, sent: true, log: 12 << 20),
    ]
    let unsent = try await record(store, fences: 30, sent: false, log: 1 << 20)
    let reserveFile = ReserveFile(small)
    if hasReserveFile { #expect(reserveFile.reserve()) }
    // tmpfs gives whole pages.
    let filler = try #require(fopen(disk + "/filler", "w"))
    let piece = [UInt8](repeating: 1, count: 4096)
    setvbuf(filler, nil, _IONBF, 0)
    while fwrite(piece, 1, piece.count, filler) == piece.count {}
    fclose(filler)
    #expect(small.room == 0)
    #expect(reserveFile.release() == hasReserveFile)

    let dropped = try await store.space.makeRoom(except: nil)
    #expect(dropped.fences == 70)
    #expect(dropped.driveLogs == 2)
    #expect(sent.allSatisfy { !exists($0.log) } && exists(unsent.log))
    #expect(try await fences(store) == [unsent.id: 30])
    #expect(try #require(small.room) > 18 << 20)
    #expect(try StoreReader(store).damagedRows() == 0)
    #expect(reserveFile.reserve())
    #expect(try await store.space.makeRoom(except: nil).isNothing, "nothing more to drop")
  }
}
