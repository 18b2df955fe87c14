import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// A write-ahead log that is read without SQLite: whole, torn, damaged, or of a host of the other byte order.
struct WriteAheadLogTests {
  private static let frame = 24 + StorePage.size
  private let folder: TemporaryFolder
  /// A copy of a store as a kill leaves it.
  private let path: String
  /// The store's page count, by SQLite.
  private let pages: Int

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
    pages = try store.database.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(atPath: directory.database + suffix, toPath: path + suffix)
    }
  }

  private func change(_ suffix: String, _ body: (inout [UInt8]) -> Void) throws {
    let file = URL(fileURLWithPath: path + suffix)
    var bytes = [UInt8](try Data(contentsOf: file))
    body(&bytes)
    try Data(bytes).write(to: file)
  }

  private func remove(_ suffix: String) throws { try FileManager.default.removeItem(atPath: path + suffix) }

  private var frames: Int {
    get throws { (try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count - 32) / Self.frame }
  }

  /// The fences that SQLite finds in a copy of the files.
  private func fencesBySQLite() throws -> Int {
    let copy = folder.file("read.sqlite")
    for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
    let database = try DatabaseQueue(path: copy)
    return try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM fence") ?? -1 }
  }

  // MARK: Whole logs

  @Test("when a process was killed, then its log is whole, its index confirms it, and the page count is SQLite's")
  func killed() throws {
    let log = WriteAheadLog(path)
    #expect(log.state == .whole && log.isVouchedFor)
    #expect(log.pageCount == pages)
    #expect(try frames > 8)
    let index = try #require(WALIndex(path + "-shm"))
    #expect(try Int(index.frames) == frames && index.copied == 0)
    #expect(try fencesBySQLite() == 3)
  }

  @Test("when the index is missing, as after a power cut, then the log is whole, and its end is not confirmed")
  func withoutIndex() throws {
    try remove("-shm")
    let log = WriteAheadLog(path)
    #expect(log.state == .whole && !log.isVouchedFor)
    #expect(log.pageCount == pages)
  }

  @Test("when there is no log, then it is missing")
  func missing() throws {
    try remove("-wal")
    try remove("-shm")
    let log = WriteAheadLog(path)
    #expect(log.state == .missing && !log.isVouchedFor)
    #expect(log.pages.isEmpty && log.pageCount == nil)
  }

  // MARK: Lost frames

  @Test("when the log is missing beside its index, then all frames that the store lacks are lost")
  func goneBesideIndex() throws {
    let count = try frames
    try remove("-wal")
    #expect(WriteAheadLog(path).state == .damaged(frames: count))
  }

  @Test("when the end of the log is missing, then the index gives the number of lost frames", arguments: 1...3)
  func truncated(_ missing: Int) throws {
    try change("-wal") { $0.removeLast(missing * Self.frame) }
    #expect(WriteAheadLog(path).state == .damaged(frames: missing))
    try remove("-shm")
    #expect(WriteAheadLog(path).state == .whole, "a power cut may have torn the last transaction")
  }

  @Test("when a bit in the middle is flipped, then the frames behind it are lost, with and without the index")
  func flippedInTheMiddle() throws {
    let (count, place) = (try frames, 32 + Self.frame + 1000)
    try change("-wal") { $0[place] ^= 4 }
    #expect(WriteAheadLog(path).state == .damaged(frames: count - 1))
    try remove("-shm")
    #expect(WriteAheadLog(path).state == .damaged(frames: count - 1))
  }

  @Test("when a bit of the last frame is flipped, then only the index shows that its transaction was complete")
  func flippedAtTheEnd() throws {
    try change("-wal") { $0[$0.count - 9] ^= 4 }
    #expect(WriteAheadLog(path).state == .damaged(frames: 1))
    try remove("-shm")
    #expect(WriteAheadLog(path).state == .whole)
  }

  @Test("when a bit of the log's header is flipped, then all frames are lost to SQLite, and their pages are still read")
  func flippedHeader() throws {
    try change("-wal") { $0[13] ^= 1 }
    let log = WriteAheadLog(path)
    #expect(try log.state == .damaged(frames: frames))
    #expect(log.pageCount == pages && !log.pages.isEmpty)
  }

  @Test("when frames of an earlier round follow, then they are not read")
  func earlierRound() throws {
    let before = WriteAheadLog(path)
    try remove("-shm")
    try change("-wal") { bytes in
      var stale = Array(bytes[32..<32 + Self.frame])
      for place in 8..<16 { stale[place] ^= 0xFF }
      bytes += stale
    }
    let log = WriteAheadLog(path)
    #expect(log.state == .whole)
    #expect(log.pages == before.pages)
  }

  // MARK: A power cut after a power cut

  /// The frames that end a transaction.
  private var ends: [Int] {
    get throws {
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
      return try (0..<frames).filter { bytes.number(32 + $0 * Self.frame + 4) > 0 }
    }
  }

  @Test("when a torn transaction lies before the rest of an older torn one, then nothing acknowledged is lost")
  func tornTwice() throws {
    let (count, last) = (try frames, try ends.dropLast().last ?? 0)
    try #require(count - last > 3, "the last transaction has several frames")
    try remove("-shm")
    try change("-wal") { bytes in
      // The next process wrote a transaction over the first frame of the torn one. One of its sectors is missing.
      let place = 32 + (last + 1) * Self.frame
      bytes[place + 7] = UInt8(pages)
      for sector in place + 16..<place + 1024 { bytes[sector] = UInt8(truncatingIfNeeded: sector &* 37) }
    }
    #expect(try ends.count { $0 > last } == 2)
    #expect(WriteAheadLog(path).state == .whole)
  }

  @Test(
    "when any part of the last frame of an acknowledged transaction is damaged, then it and all later ones are lost",
    arguments: [17, 23, 24, 2000, 4119])
  func damagedEnd(_ place: Int) throws {
    let all = try ends
    let (end, count) = (all[all.count - 2], try frames)
    try remove("-shm")
    try change("-wal") { $0[32 + end * Self.frame + place] ^= 0x10 }
    #expect(WriteAheadLog(path).state == .damaged(frames: count - end))
  }

  // MARK: The other byte order

  /// SQLite's checksum by its documentation, independent of ``WALChecksum``.
  private static func sum(
    _ bytes: ArraySlice<UInt8>, after start: (UInt32, UInt32), isBig: Bool
  ) -> (UInt32, UInt32) {
    let bytes = Array(bytes)
    func word(_ place: Int) -> UInt32 {
      let four = bytes[place..<place + 4]
      return (isBig ? Array(four) : four.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
    }
    var (first, second) = start
    for place in stride(from: 0, to: bytes.count, by: 8) {
      first = first &+ word(place) &+ second
      second = second &+ word(place + 4) &+ first
    }
    return (first, second)
  }

  /// Gives the log the checksums of a host of the other byte order.
  private static func swapOrder(_ bytes: inout [UInt8]) {
    func store(_ sum: (UInt32, UInt32), _ place: Int) {
      for (at, number) in [(place, sum.0), (place + 4, sum.1)] {
        for byte in 0..<4 { bytes[at + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32(byte))) }
      }
    }
    bytes[3] ^= 1
    let isBig = bytes[3] == 0x83
    var running = sum(bytes[0..<24], after: (0, 0), isBig: isBig)
    store(running, 24)
    for place in stride(from: 32, to: bytes.count, by: frame) {
      running = sum(bytes[place..<place + 8], after: running, isBig: isBig)
      running = sum(bytes[place + 24..<place + frame], after: running, isBig: isBig)
      store(running, place + 16)
    }
  }

  @Test("when a host of the other byte order began the log, then it is read as SQLite reads it")
  func otherOrder() throws {
    try remove("-shm")
    let before = WriteAheadLog(path)
    try change("-wal", Self.swapOrder)
    let log = WriteAheadLog(path)
    #expect(log.state == .whole && log.pages == before.pages && log.pageCount == pages)
    #expect(try fencesBySQLite() == 3, "SQLite agrees with the checksums of this test")
    // A damaged frame is still found: the checksums are really read in that order.
    try change("-wal") { $0[32 + Self.frame + 1000] ^= 4 }
    #expect(try WriteAheadLog(path).state == .damaged(frames: frames - 1))
  }

  // MARK: The index

  @Test("when a byte of the index's header is damaged, in one of its two copies or in both, then the index is rejected")
  func damagedIndex() throws {
    // The bytes of the index that are read.
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-shm"))).prefix(100)
    #expect(WALIndex(path + "-shm") != nil)
    for place in 0..<48 {
      for places in [[place], [48 + place], [place, 48 + place]] {
        try change("-shm") { bytes in
          bytes = Array(whole)
          for place in places { bytes[place] ^= 0x10 }
        }
        #expect(WALIndex(path + "-shm") == nil, "\(places)")
      }
    }
  }

  @Test("when the index is shorter than its header, then it is rejected", arguments: [0, 47, 96, 99])
  func shortIndex(_ size: Int) throws {
    try change("-shm") { $0 = Array($0.prefix(size)) }
    #expect(WALIndex(path + "-shm") == nil)
  }

  @Test("when the index counts more copied frames than there are, then only the existing frames count as copied")
  func tooManyCopied() throws {
    try change("-shm") { for place in 96..<100 { $0[place] = 0xFF } }
    let index = try #require(WALIndex(path + "-shm"))
    #expect(try Int(index.copied) == frames && index.copied == index.frames)
  }

  @Test("when frames were copied into the store, then the log has only the pages of later frames")
  func copiedFrames() throws {
    try change("-shm") { bytes in
      let count = bytes[16..<20]
      bytes.replaceSubrange(96..<100, with: count)
    }
    let log = WriteAheadLog(path)
    #expect(log.state == .whole && log.pages.isEmpty && log.pageCount == pages)
    try remove("-wal")
    #expect(WriteAheadLog(path).state == .missing, "the store has all of them")
  }

  @Test("when the index belongs to another log, then it is not used for this one")
  func foreignIndex() throws {
    let index = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-shm")))
    let other = StateDirectory(path: folder.file("other"))
    let store = try DriveStore(directory: other, purpose: "a test")
    try FileManager.default.removeItem(atPath: path + "-shm")
    try FileManager.default.copyItem(atPath: other.database + "-shm", toPath: path + "-shm")
    #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "-shm"))) != index)
    let log = WriteAheadLog(path)
    #expect(log.state == .whole && !log.isVouchedFor)
    try store.database.close()
  }
}
