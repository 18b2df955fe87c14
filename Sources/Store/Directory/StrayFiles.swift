import Coverage
import Foundation

/// Files that a damaged store leaves behind: the damaged store itself, and drive logs that no drive names any more.
/// They may contain unsent data that exists nowhere else: they are deleted by age, and for the quota only when no
/// sent data is left to delete.
extension StateDirectory {
  /// Damaged stores that were set aside, each with its write-ahead log.
  public var damagedStores: [String] { files.keys.filter { $0.hasPrefix(database + ".corrupt-") }.sorted() }

  /// The same, oldest first, without the newest, which is the most likely to be needed.
  var formerDamagedStores: [String] {
    let parts = Dictionary(grouping: damagedStores) { $0.hasSuffix("-wal") ? String($0.dropLast(4)) : $0 }
    // Ordered by the first remaining file of each store.
    let stores = Self.oldestFirst(parts.values.compactMap(\.first))
    return stores.dropLast().flatMap { first in parts.values.first { $0.first == first } ?? [] }
  }

  /// Drive logs that are not among `named`.
  func straysAmongLogs(_ named: Set<String>) -> [String] {
    files.keys.filter { $0.hasPrefix(driveLogs + "/") && $0.hasSuffix(".jsonl") && !named.contains($0) }.sorted()
  }

  /// The same, oldest first, without logs written shortly before the newest of all files: a new drive has its log
  /// before its row in the store. Damaged stores have a time in the future (``AgeDeletion``).
  func oldStraysAmongLogs(_ named: Set<String>) -> [String] {
    let damaged = Set(damagedStores)
    let newest = files.keys.filter { !damaged.contains($0) }.compactMap(Self.modified).max() ?? 0
    let latest = newest.saturatingSubtracting(3_600_000_000)
    return Self.oldestFirst(straysAmongLogs(named)).filter { (Self.modified($0) ?? .max) < latest }
  }

  private static func oldestFirst(_ files: [String]) -> [String] {
    files.map { ($0, modified($0) ?? 0) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
  }

  /// When `file` was last written, or set aside, in microseconds since the epoch.
  static func modified(_ file: String) -> Int64? {
    StateFile.status(file).map {
      Int64($0.st_mtim.tv_sec).saturatingMultiplied(by: 1_000_000).saturatingAdding(Int64($0.st_mtim.tv_nsec) / 1000)
    }
  }

  /// Sets the time that ``modified(_:)`` returns. Where the file system refuses, the time stays: the file is then deleted earlier or
  /// later, and nothing else depends on it.
  static func setModified(_ file: String, to time: WallTime) {
    var times = [timeval(), timeval()]
    for place in times.indices { times[place].tv_sec = Int(time.microseconds / 1_000_000) }
    utimes(file, times)
  }
}

/// A file that may be unreadable in parts.
final class RawFile: Sendable {
  private let descriptor: CInt
  let bytes: Int

  var exists: Bool { descriptor >= 0 }

  init(_ path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    bytes = isFile ? Int(status.st_size) : 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func read(_ place: Int, _ count: Int) -> [UInt8]? {
    guard bytes > 0, place >= 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &buffer, count, off_t(place)) == count ? buffer : nil
  }

  /// All of a short file as text; `nil` when it is empty or longer.
  func text(limit: Int) -> String? {
    guard bytes <= limit else { return nil }
    return read(0, bytes).map { String(decoding: $0, as: UTF8.self) }
  }
}
