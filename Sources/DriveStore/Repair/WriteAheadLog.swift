import Foundation

/// SQLite's write-ahead log as it lies beside the store, read without SQLite.
///
/// At the first frame that does not fit, SQLite takes the log to have ended, and says nothing of what follows. That is right for a
/// transaction that a power cut has torn, and wrong for a flipped bit in the middle: then all that follows would be lost. Here the two
/// are told apart. https://www.sqlite.org/fileformat.html#walformat
struct WriteAheadLog: Sendable {
  enum State: Hashable, Sendable {
    /// There is no such file.
    case missing
    /// All that was acknowledged can be read, as far as this file can tell.
    case whole
    /// So many frames of transactions that were acknowledged lie behind a damaged one, or are gone.
    case damaged(frames: Int)
  }

  private static let headerSize = 32
  private static let frameHeaderSize = 24

  private let file: RawFile
  let state: State
  /// Where in the file the newest version of a page begins, by page number from 0: of complete transactions, in frames that name this
  /// round of the log. No checksum of SQLite's is looked at: each row has one of its own.
  let pages: [Int: Int]
  /// How many pages the store has, where the log says so.
  let pageCount: Int?
  /// Whether the index beside the log shows that no acknowledged transaction is missing at its end.
  let isVouchedFor: Bool

  /// - Parameter path: Of the database.
  init(_ path: String) {
    file = RawFile(path + "-wal")
    let index = WALIndex(path + "-shm")
    guard file.exists else {
      (pages, pageCount) = ([:], nil)
      let missing = index.map { $0.frames - $0.copied } ?? 0
      state = missing > 0 ? .damaged(frames: Int(missing)) : .missing
      isVouchedFor = index != nil
      return
    }
    let frames = Self.frames(of: file)
    let salts = Self.salts(of: file, frames)
    let belongs = index.map { $0.salts == salts } ?? false
    let known = belongs ? Int(index?.frames ?? 0) : 0
    let copied = belongs ? Int(index?.copied ?? 0) : 0
    isVouchedFor = belongs || index?.frames == 0 || file.bytes == 0 && index != nil
    let valid = Self.validFrames(of: file, frames)
    // A store grows by a page a frame at most: a number beyond that is damaged.
    let most = RawFile(path).bytes / StorePage.size + frames.count
    (pages, pageCount) = Self.newestPages(frames.filter { $0.page < most }, salts: salts, after: copied)
    let lost = Self.lostFrames(frames, salts: salts, valid: valid, known: known)
    state = lost > 0 ? .damaged(frames: lost) : .whole
  }

  func page(at place: Int) -> [UInt8]? { file.read(place, StorePage.size) }

  // MARK: Frames

  private struct Frame {
    /// From 0.
    let page: Int
    /// Of the whole store, in a frame that ends a transaction; 0 in others.
    let pagesAfterwards: Int
    let salts: UInt64
    /// Where its page begins.
    let place: Int

    var index: Int { (place - headerSize - frameHeaderSize) / (frameHeaderSize + StorePage.size) }
    var endsTransaction: Bool { pagesAfterwards > 0 }
  }

  /// All that there is room for in the file, whatever is in it.
  private static func frames(of file: RawFile) -> [Frame] {
    // A store of another page size is left to SQLite.
    if hasValidHeader(file), let header = file.read(0, headerSize), header.number(8) != StorePage.size { return [] }
    return stride(
      from: headerSize, through: file.bytes - frameHeaderSize - StorePage.size, by: frameHeaderSize + StorePage.size
    )
    .map { place in
      // What cannot be read is a frame of no round.
      guard let header = file.read(place, frameHeaderSize) else {
        return Frame(page: -1, pagesAfterwards: 0, salts: 0, place: place + frameHeaderSize)
      }
      return Frame(
        page: Int(header.number(0)) - 1, pagesAfterwards: Int(header.number(4)),
        salts: UInt64(header.number(8)) << 32 | UInt64(header.number(12)), place: place + frameHeaderSize)
    }
  }

  /// The two numbers that all frames of this round name: by the header, unless the first frames agree on others.
  private static func salts(of file: RawFile, _ frames: [Frame]) -> UInt64? {
    let header = file.read(0, headerSize).map { UInt64($0.number(16)) << 32 | UInt64($0.number(20)) }
    if let header, frames.first?.salts == header || frames.isEmpty || hasValidHeader(file) { return header }
    let first = frames.prefix(3).map(\.salts)
    return first.first { salts in first.count { $0 == salts } > 1 } ?? header
  }

  private static func hasValidHeader(_ file: RawFile) -> Bool {
    guard let header = file.read(0, headerSize), let order = WALChecksum.Order(magic: header.number(0)) else {
      return false
    }
    var checksum = WALChecksum(order)
    checksum.add(header[0..<24])
    return checksum.matches(header, at: 24)
  }

  /// How many frames SQLite reads.
  private static func validFrames(of file: RawFile, _ frames: [Frame]) -> Int {
    guard hasValidHeader(file), let header = file.read(0, headerSize),
      let order = WALChecksum.Order(magic: header.number(0))
    else { return 0 }
    let salts = UInt64(header.number(16)) << 32 | UInt64(header.number(20))
    var checksum = WALChecksum(order)
    checksum.add(header[0..<24])
    for (index, frame) in frames.enumerated() {
      guard frame.salts == salts, frame.page >= 0,
        let bytes = file.read(frame.place - frameHeaderSize, frameHeaderSize + StorePage.size)
      else { return index }
      checksum.add(bytes[0..<8])
      checksum.add(bytes[frameHeaderSize...])
      guard checksum.matches(bytes, at: 16) else { return index }
    }
    return frames.count
  }

  /// Those of acknowledged transactions that SQLite does not read.
  /// - Parameter known: How many frames there were, by the index.
  private static func lostFrames(_ frames: [Frame], salts: UInt64?, valid: Int, known: Int) -> Int {
    let rest = frames.dropFirst(valid).enumerated().filter { $0.element.salts == salts }
    let lastEnd = rest.last { $0.element.endsTransaction }
    // A transaction is synced before the next one begins: only the last one can be torn.
    let ends = rest.count { $0.element.endsTransaction }
    let hasMore = ends > 1 || ends == 1 && rest.last?.offset != lastEnd?.offset
    let byFrames = hasMore ? (lastEnd?.offset ?? 0) + 1 : 0
    return max(byFrames, known - valid)
  }

  /// - Parameter copied: So many frames are in the store already.
  private static func newestPages(_ frames: [Frame], salts: UInt64?, after copied: Int) -> ([Int: Int], Int?) {
    var newest: [Int: Int] = [:]
    var count: Int?
    var unfinished: [Int: Int] = [:]
    // A frame that names another round was damaged, or is left of an earlier one; those of this round may follow.
    for frame in frames where frame.salts == salts && frame.page >= 0 {
      if frame.index >= copied { unfinished[frame.page] = frame.place }
      guard frame.endsTransaction else { continue }
      count = frame.pagesAfterwards
      newest.merge(unfinished) { $1 }
      unfinished = [:]
    }
    return (newest, count)
  }
}
