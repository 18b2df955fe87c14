import Foundation

/// The pages of a store's file, as they are after the last transaction that its write-ahead log has. Read without SQLite, which finds
/// none of them when the first one is damaged.
struct StorePages: Sendable {
  /// SQLite gives a new file this size, and the store asks for no other.
  static let size = 4096
  private let file: RawFile
  private let log: RawFile
  /// Where in the log the newest version of a page is.
  private var logged: [Int: Int] = [:]
  /// How many there are, where the log says so.
  private var count: Int?

  init(_ path: String) {
    file = RawFile(path)
    log = RawFile(path + "-wal")
    readLog()
  }

  /// Those that can be read.
  func forEach(_ body: ([UInt8]) throws -> Void) rethrows {
    // A damaged count may be four thousand million.
    let present = max(file.bytes / Self.size, (logged.keys.max() ?? -1) + 1)
    for number in 0..<min(count ?? present, present) {
      let page = logged[number].map { log.read($0, Self.size) } ?? file.read(number * Self.size, Self.size)
      if let page { try body(page) }
    }
  }

  /// Frames of the transactions that are complete, up to those that an earlier round of the log has left (other salts). No checksum
  /// is looked at: each row has one of its own. https://www.sqlite.org/fileformat.html#walformat
  private mutating func readLog() {
    let (header, frameHeader) = (32, 24)
    func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
    guard let start = log.read(0, header) else { return }
    var unfinished: [Int: Int] = [:]
    for place in stride(from: header, to: log.bytes, by: frameHeader + Self.size) {
      guard let frame = log.read(place, frameHeader), frame[8..<16] == start[16..<24] else { return }
      unfinished[number(frame[0..<4]) - 1] = place + frameHeader
      let countAfterwards = number(frame[4..<8])
      guard countAfterwards > 0 else { continue }
      count = countAfterwards
      logged.merge(unfinished) { $1 }
      unfinished = [:]
    }
  }
}

/// A file of which any part may be unreadable.
private final class RawFile: Sendable {
  private let descriptor: CInt
  let bytes: Int

  init(_ path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    var status = stat()
    bytes = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func read(_ place: Int, _ count: Int) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &buffer, count, off_t(place)) == count ? buffer : nil
  }
}
