import Foundation
import GRDB

/// Why the store cannot be used. Each description is one line with the reason, the path and the remedy.
public enum StoreError: Error, Hashable, CustomStringConvertible {
  case unusableDirectory(path: String, reason: String)
  /// The disk is full, read-only or failing; the stored data is intact.
  case diskTrouble(path: String, reason: String, remedy: String)
  /// A name in a state directory is a symbolic link, which may lead anywhere.
  case symbolicLink(path: String)
  case inUse(directory: String, holder: String)
  case unusable(path: String, reason: String)
  case notDurable(path: String, pragma: String, value: String)
  case newerVersion(path: String)
  /// The control server granted a test that it granted before.
  case usedTest(String)

  /// Reason, path and remedy in one line.
  public var description: String {
    switch self {
    case .unusableDirectory(let path, let reason):
      "cannot use state directory \(path): \(reason); create it, give this user access, or set state-directory"
    case .diskTrouble(let path, let reason, let remedy): "cannot use \(path): \(reason); \(remedy)"
    case .symbolicLink(let path):
      "\(path) is a symbolic link, and nothing in a state directory is reached through one: remove it, or move the whole directory"
    case .inUse(let directory, let holder):
      "state directory \(directory) is in use by \(holder); stop that program or set another state-directory"
    case .unusable(let path, let reason): "cannot use store \(path): \(reason)"
    case .notDurable(let path, let pragma, let value):
      "store \(path) is not safe against power cuts: SQLite answers \(pragma)=\(value); put it on a local disk"
    case .newerVersion(let path):
      "store \(path) was written by a newer version of coverage-probe; use that version or another state-directory"
    case .usedTest(let uuid): "the control server gives test \(uuid) a second time"
    }
  }

  /// The text of `error`, an `errno`.
  static func words(_ error: CInt) -> String { String(cString: strerror(error)) }

  /// A file in `directory` could not be created or opened.
  /// - Parameter error: The `errno`.
  static func unusableDirectory(_ directory: String, _ error: CInt) -> StoreError {
    if [ENOSPC, EDQUOT, EROFS, EIO].contains(error) {
      let trouble = DiskState.trouble(at: directory)
      return .diskTrouble(
        path: "state directory \(directory)", reason: trouble?.reason ?? words(error),
        remedy: trouble?.remedy ?? "see the kernel's messages about its disk")
    }
    return .unusableDirectory(path: directory, reason: words(error))
  }

  /// The store at `path` could not be opened or read.
  static func unusable(_ path: String, _ error: DatabaseError) -> StoreError {
    let reason = error.message ?? "\(error.resultCode)"
    if error.resultCode == .SQLITE_CANTOPEN, access(path, R_OK) != 0, errno == EACCES {
      return .unusable(
        path: path, reason: "\(words(EACCES)): only the owner may read a store; run this as \(readers(of: path))")
    }
    switch error.resultCode {
    case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY:
      if let trouble = DiskState.trouble(at: URL(fileURLWithPath: path).deletingLastPathComponent().path) {
        return .diskTrouble(path: "store \(path)", reason: trouble.reason, remedy: trouble.remedy)
      }
    default: break
    }
    if error.resultCode == .SQLITE_FULL || error.resultCode == .SQLITE_IOERR {
      let (reason, remedy) = writeTrouble(error)
      return .diskTrouble(path: "store \(path)", reason: reason, remedy: remedy ?? "see the kernel's messages about it")
    }
    if error.resultCode == .SQLITE_READONLY {
      return .unusable(
        path: path, reason: "this user may not write to it; give this user the right to write to it and its directory")
    }
    let advice =
      switch error.resultCode {
      case .SQLITE_CORRUPT, .SQLITE_NOTADB:
        "; the next record, agent or submit repairs it by itself: leave it where it is"
      case .SQLITE_CANTOPEN, .SQLITE_PERM: "; give this user the right to write to its directory"
      default: ""
      }
    return .unusable(path: path, reason: reason + advice)
  }

  /// The users that may read a file of mode 0600.
  private static func readers(of path: String) -> String {
    var status = stat()
    guard stat(path, &status) == 0, status.st_uid != 0 else { return "root" }
    let name = getpwuid(status.st_uid).flatMap { $0.pointee.pw_name }.map { String(cString: $0) }
    return "\(name ?? "user \(status.st_uid)") or root"
  }

  /// Whether an SQLite error means a damaged file: neither the disk, nor permissions, nor another process explains
  /// it.
  public static func isDamage(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError else { return false }
    switch error.resultCode {
    case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY,
      .SQLITE_NOMEM, .SQLITE_INTERRUPT, .SQLITE_ABORT:
      return false
    default: return true
    }
  }

  /// Whether freeing space may make a failed write succeed. Includes I/O errors: SQLite reports a user's quota
  /// (EDQUOT) and a log index that cannot grow as failures of the disk.
  public static func isDiskFull(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError else { return false }
    if error.message == words(EIO) { return false }
    return error.resultCode == .SQLITE_FULL
      || [.SQLITE_IOERR_WRITE, .SQLITE_IOERR_SHMSIZE].contains(error.extendedResultCode)
  }

  /// Why sending cannot continue although all waiting data is safe, in words; `nil` for any other error than trouble
  /// with the disk.
  public static func sendingTrouble(_ error: any Error) -> String? {
    if let error = error as? StoreError {
      if case .diskTrouble = error { return "\(error)" }
      return nil
    }
    guard let error = error as? DatabaseError,
      [.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY].contains(error.resultCode)
    else { return nil }
    return line(error, subject: "cannot write to the store: ")
  }

  /// Any error in one line for an operator: reason and remedy, in words where it is SQLite's.
  /// - Parameter subject: Precedes an error of SQLite, which does not name the store.
  public static func line(_ error: any Error, subject: String = "") -> String {
    guard let error = error as? DatabaseError else { return "\(error)" }
    let (reason, remedy) = writeTrouble(error)
    return subject + reason + (remedy.map { "; \($0)" } ?? "")
  }

  /// Why a write to the store failed, in words for an operator, and the remedy.
  public static func writeTrouble(_ error: any Error) -> (reason: String, remedy: String?) {
    guard let error = error as? DatabaseError else { return ("\(error)", nil) }
    let message = error.message ?? "\(error.resultCode)"
    return switch error.resultCode {
    // The kernel's reasons, as `DatabaseError.explained` puts them.
    case .SQLITE_FULL where message == words(EDQUOT): ("a quota of its disk is used up", "free some space")
    case .SQLITE_FULL: ("the disk is full", "free some space")
    case .SQLITE_READONLY where message == words(EROFS): ("its disk is read-only", "mount it for writing")
    case .SQLITE_IOERR where message == words(EIO):
      ("its disk fails (\(message))", "see the kernel's messages about it")
    case .SQLITE_IOERR:
      ("the disk fails or a quota is used up (\(message))", "see the kernel's messages about it, or free some space")
    case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
      (
        "this user may not write to it, or its disk is read-only (\(message))",
        "give this user the right to, or mount its disk for writing"
      )
    case .SQLITE_BUSY, .SQLITE_LOCKED: ("another program uses it (\(message))", "end that program")
    default: (message, nil)
    }
  }
}
