/// Finds the end of a download's stream of chunks, and counts its bytes; the bytes themselves are not stored. Only the last byte
/// of each chunk is a flag: 0x00 another one follows, 0xFF it was the last. 0xFF elsewhere is data, and a read can hold several
/// flags (docs/protocol.md, edge 15).
struct ChunkReader: Sendable {
  /// Bytes of a chunk: the size in the command that asked for the stream.
  let size: Int
  private(set) var bytes: Int64 = 0
  /// Whether the last chunk is complete.
  private(set) var hasEnded = false
  /// Bytes of the chunk under way that were read: less than `size`.
  private var position = 0

  init(size: Int) { self.size = max(1, size) }

  /// Checks the flags in the bytes of one read, which may begin and end anywhere in a chunk.
  /// - Throws: ``SpeedTestError/protocolError(_:)`` for a flag that is neither, or for bytes behind the last chunk (edge 16).
  mutating func read(_ buffer: UnsafeRawBufferPointer) throws(SpeedTestError) {
    guard !buffer.isEmpty else { return }
    guard !hasEnded else { throw .protocolError("bytes behind the last chunk") }
    // The offset of the next flag; beyond the buffer when the chunk ends in a later read.
    var next = size - position - 1
    while next < buffer.count {
      switch buffer[next] {
      case 0: break
      case 0xFF:
        guard next == buffer.count - 1 else { throw .protocolError("bytes behind the last chunk") }
        hasEnded = true
      default: throw .protocolError("a chunk ends with \(buffer[next]), not with 0 or 255")
      }
      next += size
    }
    position = (position + buffer.count) % size
    bytes &+= Int64(buffer.count)
  }
}

/// The server's sizes of a chunk in bytes, from its line CHUNKSIZE. An old server names only the default (docs/protocol.md, edge 6): it is
/// then the smallest and the largest, too.
struct ChunkSizes: Hashable, Sendable {
  /// The size for a main phase when the pre-test found no rate.
  let standard: Int
  let smallest: Int
  let largest: Int

  /// The sizes that the protocol permits; a server refuses others (docs/protocol.md, edge 13).
  static let protocolRange = 4096...4_194_304

  /// - Parameter numbers: The one or three numbers of the line CHUNKSIZE.
  /// - Throws: ``SpeedTestError/protocolError(_:)`` for numbers outside 1...2^30, or a smallest size above the largest.
  init(_ numbers: [Int64]) throws(SpeedTestError) {
    guard let first = numbers.first, numbers.allSatisfy({ (1...1 << 30).contains($0) }) else {
      throw .protocolError("a chunk size out of range")
    }
    standard = Int(first)
    smallest = numbers.count == 3 ? Int(numbers[1]) : standard
    largest = numbers.count == 3 ? Int(numbers[2]) : standard
    guard smallest <= largest else { throw .protocolError("chunk sizes in the wrong order") }
  }

  /// The nearest size that the server and the protocol allow.
  func clamped(_ size: Int) -> Int {
    let range = Self.protocolRange
    let byServer = min(max(size, smallest), largest)
    // An old server with one number below 4096 gets its own size: it has no other.
    return largest < range.lowerBound ? largest : min(max(byServer, range.lowerBound), range.upperBound)
  }
}
