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
