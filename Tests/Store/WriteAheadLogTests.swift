import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// A write-ahead log that SQLite reads completely, or in which it silently stops.
struct WriteAheadLogTests {
  private static let frame = 24 + 4096
  private let folder: TemporaryFolder
  /// A copy of a store as a kill leaves it.
  private let path: String

  /// Several transactions, so that the log has frames of each.
  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("copy.sqlite")
    let directory = StateDirectory(path: folder.file("state"))
    let store = try DriveStore(copiedTo: directory)
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [], seen: .start)
    for number in 0..<3 {
      try recorder.save(sessions: [], fences: [.sample(number: number, entered: Double(number) * 4)], seen: .start)
    }
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(atPath: directory.database + suffix, toPath: path + suffix)
    }
    try store.database.close()
  }

  private func change(_ suffix: String, _ body: (inout [UInt8]) -> Void) throws {
    let file = URL(fileURLWithPath: path + suffix)
    var bytes = [UInt8](try Data(contentsOf: file))
    body(&bytes)
    try Data(bytes).write(to: file)
  }

  private func look() throws -> WriteAheadLog.State? {
    var found: WriteAheadLog.State?
    try WriteAheadLog.look(path, LogIndex(path + "-shm")) { found = $0 }
    return found
  }

  @Test("when a process was killed, then its log is whole, and all of it is in the database afterwards")
  func killed() throws {
    #expect(WriteAheadLog.exists(path))
    #expect(try look() == .whole)
    let fences = try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM fence") }
    #expect(fences == 3)
  }

  @Test("when the log is missing, or emptied beside its index, then acknowledged transactions are lost")
  func missing() throws {
    try change("-wal") { $0 = [] }
    #expect(try look() == .lost)
    unlink(path + "-wal")
    #expect(try !WriteAheadLog.exists(path) && look() == .lost)
  }

  @Test("when the end of the log is missing, then it is lost; without the index it may be a torn transaction")
  func truncated() throws {
    let shm = try Data(contentsOf: URL(fileURLWithPath: path + "-shm"))
    try change("-wal") { $0.removeLast(Self.frame) }
    unlink(path + "-shm")
    #expect(try look() == .unknown)
    try shm.write(to: URL(fileURLWithPath: path + "-shm"))
    #expect(try look() == .lost)
  }

  @Test("when a bit of a frame is flipped, then the frames from there on are lost", arguments: [1000, 3 * 4120 + 30])
  func flipped(_ place: Int) throws {
    try change("-wal") { $0[32 + place] ^= 4 }
    #expect(try look() == .lost)
  }

  @Test("when the index is damaged, too short or of another log, then nothing is known", arguments: [-1, 8, 16, 56])
  func damagedIndex(_ place: Int) throws {
    try change("-shm") { if place < 0 { $0 = Array($0.prefix(47)) } else { $0[place] ^= 0x10 } }
    #expect(try look() == .unknown)
    try change("-wal") { $0[16] ^= 1 }
    #expect(try look() == .unknown)
  }

  @Test("when the database cannot be read, then nothing is known of its log")
  func noDatabase() throws {
    try Data(repeating: 7, count: 9000).write(to: URL(fileURLWithPath: path))
    #expect(try look() == .unknown)
  }
}
