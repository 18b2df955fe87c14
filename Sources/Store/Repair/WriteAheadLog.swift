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

  /// Looks at the log. SQLite copies the frames that it reads into the database, and deletes the log with its index: a loss must be noted
  /// before, in case this process ends meanwhile.
  /// - Parameter path: The path of the database.
  static func read(_ path: String) -> State {
    let log = RawFile(path + "-wal")
    guard let index = Index(path + "-shm") else { return log.exists ? .unknown : .lost }
    guard log.exists else { return .lost }
    guard index.frames > 0 else { return .whole }
    // The salts distinguish this round of the log from others.
    if let salts = log.read(16, 8), salts != index.salts { return .unknown }
    return framesRead(path).map { $0 >= index.frames ? .whole : .lost } ?? .unknown
  }

  /// The number of frames that SQLite reads; `nil` for a database that it cannot open.
  private static func framesRead(_ path: String) -> Int64? {
    do {
      let database = try DatabaseQueue(path: path)
      defer { try? database.close() }
      return try database.inDatabase { try Row.fetchOne($0, sql: "PRAGMA wal_checkpoint(PASSIVE)")?[1] }
    } catch {
      return nil
    }
  }

  /// The header of an index.
  private struct Index {
    /// The frames of acknowledged transactions.
    let frames: Int64
    let salts: [UInt8]

    /// `nil` for a missing index, and for one whose two copies of the header differ.
    init?(_ path: String) {
      let size = 48
      guard let bytes = RawFile(path).read(0, 2 * size), bytes[..<size] == bytes[size...], bytes[12] == 1 else {
        return nil
      }
      frames = Int64(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self) })
      salts = Array(bytes[32..<40])
    }
  }
}
