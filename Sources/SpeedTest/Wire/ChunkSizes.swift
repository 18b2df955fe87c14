/// The server's sizes of a chunk in bytes. An old server says only the default (spec, edge 6).
struct ChunkSizes: Hashable, Sendable {
  let standard: Int
  let smallest: Int
  let largest: Int

  /// What every server must accept (spec, edge 13).
  static let protocolRange = 4096...4_194_304

  /// - Parameter numbers: The one or three numbers of the line CHUNKSIZE.
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
