import Foundation

/// SQLite's write-ahead log beside the store, read without SQLite.
///
/// At the first frame with a wrong checksum, SQLite ends the log without an error. That is right for a transaction
/// torn by a power cut, and wrong for a flipped bit in the middle, which would lose all later frames. This type
/// distinguishes the two. https://www.sqlite.org/fileformat.html#walformat
struct WriteAheadLog: Sendable {
  /// What the log shows about acknowledged transactions.
  enum State: Hashable, Sendable {
    /// The file does not exist.
    case missing
    /// Everything acknowledged can be read, as far as this file shows.
    case whole
    /// This many frames of acknowledged transactions follow a damaged frame, or are missing.
    case damaged(frames: Int)
  }

  private static let headerSize = 32
  private static let frameHeaderSize = WALChecksum.frameHeaderSize

  private let file: RawFile
  let state: State
  /// The place of the newest version of each page, by page number from 0: from complete transactions of this round of
  /// the log. SQLite's checksums are not checked here, because each row has its own.
  let pages: [Int: Int]
  /// The number of pages of the store; `nil` when the log does not contain it.
  let pageCount: Int?
  /// Whether the index beside the log shows that no acknowledged transaction is missing at its end.
  let isVouchedFor: Bool

  /// - Parameter path: The path of the database.
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
    // A store grows by at most a page for each frame. A greater number is damage, unless the frame's checksum is valid: then the file of
    // the store is too short.
    let intact = frames.prefix(valid).map { max($0.page + 1, $0.pagesAfterwards) }.max() ?? 0
    let most = max(RawFile(path).bytes / StorePage.size + frames.count, intact)
    (pages, pageCount) = Self.newestPages(frames.filter { $0.page < most }, salts: salts, after: copied)
    let lost = Self.lostFrames(of: file, frames, salts: salts, valid: valid, known: known)
    state = lost > 0 ? .damaged(frames: lost) : .whole
  }

  func page(at place: Int) -> [UInt8]? { file.read(place, StorePage.size) }

  // MARK: Frames

  /// A page in the log, with the fields of its header.
  private struct Frame {
    /// The page number, from 0.
    let page: Int
    /// The number of pages of the store, in a frame that ends a transaction; 0 in others.
    let pagesAfterwards: Int
    let salts: UInt64
    /// The place of the page in the file.
    let place: Int

    var index: Int { (place - headerSize - frameHeaderSize) / (frameHeaderSize + StorePage.size) }
    var endsTransaction: Bool { pagesAfterwards > 0 }
  }

  /// All frames that fit into the file, whatever their content.
  private static func frames(of file: RawFile) -> [Frame] {
    // SQLite handles a store with another page size alone.
    if hasValidHeader(file), let header = file.read(0, headerSize), header.number(8) != StorePage.size { return [] }
    return stride(
      from: headerSize, through: file.bytes - frameHeaderSize - StorePage.size, by: frameHeaderSize + StorePage.size
    )
    .map { place in
      // An unreadable frame belongs to no round.
      guard let header = file.read(place, frameHeaderSize) else {
        return Frame(page: -1, pagesAfterwards: 0, salts: 0, place: place + frameHeaderSize)
      }
      return Frame(
        page: Int(header.number(0)) - 1, pagesAfterwards: Int(header.number(4)),
        salts: UInt64(header.number(8)) << 32 | UInt64(header.number(12)), place: place + frameHeaderSize)
    }
  }

  /// The salts of this round: those of the header, unless the first frames agree on others.
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

  /// The number of frames that SQLite reads.
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
      checksum = checksum.adding(bytes)
      guard checksum.matches(bytes, at: 16) else { return index }
    }
    return frames.count
  }

  /// Frames of acknowledged transactions that SQLite does not read.
  ///
  /// SQLite syncs a transaction before the next one begins, so only the last can be torn. After two power cuts, old torn frames may lie
  /// behind new ones; their checksums do not continue the chain.
  /// - Parameter known: The number of frames by the index.
  private static func lostFrames(
    of file: RawFile, _ frames: [Frame], salts: UInt64?, valid: Int, known: Int
  ) -> Int {
    let rest = frames.dropFirst(valid)
    let hasMore = rest.indices.dropFirst().contains { index in
      frames[index - 1].endsTransaction && frames[index - 1].salts == salts && frames[index].salts == salts
        && continues(frames, index, in: file)
    }
    let lastEnd = rest.last { $0.salts == salts && $0.endsTransaction }
    let byFrames = hasMore ? (lastEnd?.index ?? valid) + 1 - valid : 0
    return max(byFrames, known - valid)
  }

  /// Whether the checksum of a frame continues that of the frame before: the stored one, or if that is damaged, the one that it should have.
  private static func continues(_ frames: [Frame], _ index: Int, in file: RawFile) -> Bool {
    func bytes(_ index: Int) -> [UInt8]? {
      file.read(frames[index].place - frameHeaderSize, frameHeaderSize + StorePage.size)
    }
    guard let before = bytes(index - 1), let frame = bytes(index) else { return false }
    // The header that names the order can be damaged, too.
    return [WALChecksum.Order.little, .big].contains { order in
      let stored = WALChecksum(order, storedIn: before, at: 16)
      if stored.adding(frame).matches(frame, at: 16) { return true }
      guard index > 1, let start = bytes(index - 2) else { return false }
      return WALChecksum(order, storedIn: start, at: 16).adding(before).adding(frame).matches(frame, at: 16)
    }
  }

  /// - Parameter copied: The number of frames already in the store.
  private static func newestPages(_ frames: [Frame], salts: UInt64?, after copied: Int) -> ([Int: Int], Int?) {
    var newest: [Int: Int] = [:]
    var count: Int?
    var unfinished: [Int: Int] = [:]
    // A frame of another round was damaged, or is left from an earlier round; frames of this round may follow.
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

/// The index of a write-ahead log (`-shm`) that the last process left. After a kill it is exact; after a power cut it
/// has too few frames, or none. SQLite writes a new one at each start.
/// https://www.sqlite.org/walformat.html#the_wal_index_file_format
struct WALIndex: Hashable, Sendable {
  /// The number of frames of acknowledged transactions.
  let frames: UInt32
  /// The number of these frames that were copied into the store.
  let copied: UInt32
  /// The salts of the log that it belongs to.
  let salts: UInt64

  /// `nil` for a missing or damaged index.
  init?(_ path: String) {
    let size = 48
    guard let bytes = RawFile(path).read(0, 2 * size + 4), bytes[0..<size] == bytes[size..<2 * size],
      bytes[12] == 1
    else { return nil }
    // In the host's byte order, except the salts, which are copied from the log.
    func number(_ place: Int) -> UInt32 { UInt32(byteSwapping: bytes.number(place)) }
    guard number(0) == 3_007_000 else { return nil }
    var checksum = WALChecksum(.ofHost)
    checksum.add(bytes[0..<40])
    guard checksum.first == number(40), checksum.second == number(44) else { return nil }
    frames = number(16)
    copied = min(number(2 * size), frames)
    salts = UInt64(bytes.number(32)) << 32 | UInt64(bytes.number(36))
  }
}

extension UInt32 {
  /// From four bytes in the host's order that were read as big-endian.
  fileprivate init(byteSwapping number: UInt32) {
    self = WALChecksum.Order.ofHost == .big ? number : number.byteSwapped
  }
}
