import Foundation
import GRDB

/// Whether SQLite reads all of the write-ahead log beside the store.
///
/// At the first frame with a wrong checksum SQLite ends the log, and a missing log is none to it: neither is an error, and later
/// transactions are gone. The index beside the log (`-shm`), as the last process left it, says how many frames were acknowledged. It is
/// exact after a kill; after a power cut it is old or missing. https://www.sqlite.org/walformat.html#the_wal_index_file_format
enum WriteAheadLog {
  /// What a look at the log has shown.
  enum State: Hashable {
    /// SQLite reads every acknowledged frame.
    case whole
    /// Acknowledged frames are missing or damaged.
    case lost
    /// No index tells.
    case unknown
  }

  /// Whether a log with frames lies beside the database `path`.
  static func exists(_ path: String) -> Bool { RawFile(path + "-wal").bytes > 0 }

  /// Looks at the log. SQLite writes the index anew when it opens the log, and deletes both when it closes the database.
  /// - Parameters:
  ///   - path: The path of the database.
  ///   - index: The index as the last process left it.
  ///   - conclude: Called once with the result, while the log is still there.
  static func look(_ path: String, _ index: LogIndex?, conclude: (State) throws -> Void) throws {
    let log = RawFile(path + "-wal")
    guard let index else { return try conclude(log.exists ? .unknown : .lost) }
    guard log.exists else { return try conclude(.lost) }
    guard index.frames > 0 else { return try conclude(.whole) }
    // The salts distinguish this round of the log from others.
    if let salts = log.read(16, 8).map(LogIndex.salts), salts != index.salts { return try conclude(.unknown) }
    let database = try? DatabaseQueue(path: path)
    defer { try? database?.close() }
    let frames: Int64? = try? database?.inDatabase { try Row.fetchOne($0, sql: "PRAGMA wal_checkpoint(PASSIVE)")?[1] }
    try conclude(frames.map { $0 >= index.frames ? .whole : .lost } ?? .unknown)
  }
}

extension LogIndex {
  fileprivate static func salts(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  /// `nil` for a missing index, and for one whose two copies of the header differ.
  init?(_ path: String) {
    let size = 48
    guard let bytes = RawFile(path).read(0, 2 * size), bytes[..<size] == bytes[size...], bytes[12] == 1 else {
      return nil
    }
    frames = Int64(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self) })
    salts = Self.salts(Array(bytes[32..<40]))
  }
}
