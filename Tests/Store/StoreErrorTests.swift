import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// The lines that an operator reads when a store cannot be used, and how errors are classified.
struct StoreErrorTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("coverage.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private static let lines: [(StoreError, [String])] = [
    (
      .unusableDirectory(path: "/state", reason: "Permission denied"),
      ["state directory /state", "Permission denied", "give this user access"]
    ),
    (
      .diskTrouble(path: "store /state/db", reason: "its disk is full", remedy: "free some space"),
      ["store /state/db", "its disk is full", "free some space"]
    ),
    (.symbolicLink(path: "/state/lock"), ["/state/lock is a symbolic link", "remove it"]),
    (
      .inUse(directory: "/state", holder: "process 7 (agent)"),
      ["/state", "in use by process 7 (agent)", "stop that program"]
    ),
    (.unusable(path: "/state/db", reason: "database is locked"), ["store /state/db", "database is locked"]),
    (
      .notDurable(path: "/state/db", pragma: "synchronous", value: "1"),
      ["store /state/db", "not safe against power cuts", "synchronous=1", "local disk"]
    ),
    (.newerVersion(path: "/state/db"), ["store /state/db", "newer version", "use that version"]),
    (.usedTest("T7"), ["test T7", "second time"]),
  ]

  @Test("when an error is shown, then one line has the place, the reason and the remedy", arguments: lines)
  func texts(_ error: StoreError, _ parts: [String]) {
    let line = "\(error)"
    for part in parts { #expect(line.contains(part)) }
    #expect(!line.contains("\n"))
  }

  // MARK: From an errno

  @Test(
    "when the disk refuses a file, then the error names the disk, and waiting fences are safe",
    arguments: [ENOSPC, EDQUOT, EROFS, EIO])
  func refusedByDisk(_ code: CInt) {
    let error = StoreError.unusableDirectory(folder.path, code)
    let words = String(cString: strerror(code))
    // The test's own disk works, so the reason is the text of the errno.
    #expect(
      error
        == .diskTrouble(
          path: "state directory \(folder.path)", reason: words, remedy: "see the kernel's messages about its disk"))
    #expect(StoreError.sendingTrouble(error) == "\(error)")
  }

  @Test(
    "when rights, a missing name or a limit refuse a file, then the error names the directory",
    arguments: [EACCES, ENOENT, EMFILE])
  func refusedByRights(_ code: CInt) {
    let error = StoreError.unusableDirectory(folder.path, code)
    #expect(error == .unusableDirectory(path: folder.path, reason: String(cString: strerror(code))))
    #expect(StoreError.sendingTrouble(error) == nil)
  }

  // MARK: From SQLite

  @Test(
    "when SQLite reports a failing disk, then the error names the disk",
    arguments: [
      ResultCode.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_IOERR_FSYNC,
    ])
  func failingDisk(_ code: ResultCode) {
    let failure = DatabaseError(resultCode: code)
    let (reason, remedy) = StoreError.writeTrouble(failure)
    #expect(
      StoreError.unusable(path, failure)
        == .diskTrouble(path: "store \(path)", reason: reason, remedy: remedy ?? "none"))
  }

  @Test(
    "when SQLite cannot use a file, then the line has the advice for this reason",
    arguments: [
      (ResultCode.SQLITE_CORRUPT, "repairs it by itself: leave it where it is"),
      (.SQLITE_NOTADB, "repairs it by itself: leave it where it is"),
      (.SQLITE_CANTOPEN, "give this user the right to write to its directory"),
      (.SQLITE_PERM, "give this user the right to write to its directory"),
      (.SQLITE_READONLY, "give this user the right to write to it and its directory"),
    ])
  func advice(_ code: ResultCode, _ advice: String) throws {
    guard case .unusable(path, let reason) = StoreError.unusable(path, DatabaseError(resultCode: code)) else {
      Issue.record("\(StoreError.unusable(path, DatabaseError(resultCode: code)))")
      return
    }
    #expect(reason.hasSuffix("; \(advice)") || reason.contains(" \(advice)"))
  }

  @Test("when SQLite has its own message for damage, then the line contains it")
  func wordsOfSQLite() {
    let error = StoreError.unusable(path, DatabaseError(resultCode: .SQLITE_CORRUPT, message: "page 7 is odd"))
    #expect("\(error)".contains("page 7 is odd; the next record"))
  }

  // MARK: Classes

  private static let explained: [ResultCode] = [
    .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY,
    .SQLITE_NOMEM, .SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_IOERR_WRITE, .SQLITE_BUSY_SNAPSHOT,
    .SQLITE_READONLY_DBMOVED,
  ]
  private static let unexplained: [ResultCode] = [
    .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_CORRUPT_INDEX,
  ]

  @Test("when the disk, rights, memory or another program explain an error, then it is no damage", arguments: explained)
  func noDamage(_ code: ResultCode) { #expect(!StoreError.isDamage(DatabaseError(resultCode: code))) }

  @Test("when only the file itself explains an error, then it is damage", arguments: unexplained)
  func damage(_ code: ResultCode) { #expect(StoreError.isDamage(DatabaseError(resultCode: code))) }

  @Test(
    "when a write fails, then it counts as a full disk only if free space may help",
    arguments: [
      (ResultCode.SQLITE_FULL, true), (.SQLITE_IOERR_WRITE, true), (.SQLITE_IOERR_SHMSIZE, true),
      (.SQLITE_IOERR_READ, false), (.SQLITE_IOERR, false), (.SQLITE_READONLY, false), (.SQLITE_CORRUPT, false),
    ])
  func fullDisk(_ code: ResultCode, _ isFull: Bool) {
    #expect(StoreError.isDiskFull(DatabaseError(resultCode: code)) == isFull)
  }

  // MARK: One line

  @Test("when SQLite's error gets a line, then the subject precedes reason and remedy")
  func subject() {
    let full = DatabaseError(resultCode: .SQLITE_FULL)
    #expect(StoreError.line(full, subject: "the store: ") == "the store: the disk is full; free some space")
    #expect(StoreError.line(full) == "the disk is full; free some space")
    let damage = DatabaseError(resultCode: .SQLITE_CORRUPT, message: "page 7 is odd")
    #expect(StoreError.line(damage, subject: "the store: ") == "the store: page 7 is odd", "without a remedy")
  }

  @Test("when another error gets a line, then it has no subject: the error names its own place")
  func otherSubject() {
    let error = StoreError.newerVersion(path: "/state/db")
    #expect(StoreError.line(error, subject: "the store: ") == "\(error)")
  }

  // MARK: Forgetting

  @Test("when a session still exists after a request to forget it, then the line has the reason and the next step")
  func forgetting() {
    let damaged = "\(ForgettingError.damaged(session: 7))"
    #expect(damaged.hasPrefix("session 7 is damaged") && damaged.contains("run `submit`"))
    let unfinished = "\(ForgettingError.unfinished(session: 8, reason: "the disk is full"))"
    #expect(unfinished.hasPrefix("session 8 is not wholly deleted: the disk is full; the next start"))
  }
}
