import Foundation

/// How a store is opened that no process can change: its file system is mounted read-only.
///
/// SQLite reads a store in WAL mode only where the log and its index (`-wal`, `-shm`) are there or can be created. A store that was closed
/// in order has neither.
struct ReadOnlyMedium: Hashable, Sendable {
  /// The database as SQLite's URI. Debian's SQLite accepts URIs in place of paths (`SQLITE_USE_URI`).
  let address: String
  /// To run before the first read.
  let pragma: String?

  /// - Parameter path: The path of the database.
  /// - Returns: `nil` when the store is opened as on any other medium: its file system can be written, or it has both companions.
  init?(holding path: String) {
    guard DiskState.isReadOnly(path) else { return nil }
    let log = RawFile(path + "-wal")
    if log.exists, access(path + "-shm", R_OK) == 0 { return nil }
    // With `immutable`, SQLite ignores the log, and the rows in it would be missing. Without locks and with exclusive access, it reads the
    // log and keeps the index in memory.
    let isLogged = log.bytes > 0
    address = "file:\(Self.escaped(path))?\(isLogged ? "vfs=unix-none" : "immutable=1")"
    pragma = isLogged ? "PRAGMA locking_mode = EXCLUSIVE" : nil
  }

  /// A path as part of a URI: everything except ASCII letters, digits and slashes is percent-encoded.
  private static func escaped(_ path: String) -> String {
    path.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"):
        String(UnicodeScalar(byte))
      default: "%" + String(Int(byte) + 0x100, radix: 16).dropFirst()
      }
    }.joined()
  }
}
