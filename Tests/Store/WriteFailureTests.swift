import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Why a write to the store fails, in the kernel's words.
struct WriteFailureTests {
  @Test(
    "when SQLite's error has the kernel's reason, then the line names it, and only missing space counts as a full disk",
    arguments: [
      (ResultCode.SQLITE_READONLY, EROFS, "its disk is read-only; mount it for writing", false),
      (.SQLITE_FULL, EDQUOT, "a quota of its disk is used up; free some space", true),
      (.SQLITE_FULL, ENOSPC, "the disk is full; free some space", true),
      (.SQLITE_IOERR_WRITE, EIO, "its disk fails (Input/output error); see the kernel's messages about it", false),
      (.SQLITE_IOERR_FSYNC, EIO, "its disk fails (Input/output error); see the kernel's messages about it", false),
    ])
  func words(_ code: ResultCode, _ errno: CInt, _ line: String, _ isFull: Bool) {
    let error = DatabaseError(resultCode: code, message: StoreError.words(errno))
    #expect(StoreError.line(error) == line)
    #expect(StoreError.isDiskFull(error) == isFull && !StoreError.isDamage(error))
    #expect(StoreError.sendingTrouble(error) != nil, "the stored fences are safe")
  }

  @Test(
    "when a file system turns read-only under an open store, then the reason is that, and no quota",
    .enabled(if: Surroundings.mayMount && SmallDisk.isAvailable, "needs CAP_SYS_ADMIN and a loop device"))
  func readOnly() async throws {
    let disk = try SmallDisk()
    let store = try DriveStore(copiedTo: StateDirectory(path: disk.path + "/state"))
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [.sample()], seen: .seconds(20))
    #expect(await store.isWritable())
    try disk.abort()
    let error = #expect(throws: DatabaseError.self) {
      try recorder.save(sessions: [], fences: [.sample(number: 1, entered: 20)], seen: .seconds(30))
    }
    #expect(StoreError.line(try #require(error)) == "its disk is read-only; mount it for writing")
    #expect(await !store.isWritable())
    #expect(try await store.reading { try $0.sessions().map(\.fences) } == [1], "it can still be read")
  }
}
