/// The chunks of an upload: random bytes, which no link can compress (docs/protocol.md, edge 31). All chunks have the same bytes. Whether a
/// chunk is the last one is decided when it begins.
struct ChunkWriter: Sendable {
  /// Two buffers with the same random bytes, one with each flag.
  private let chunk: [UInt8]
  private let lastChunk: [UInt8]
  /// Bytes of the chunk under way that were sent.
  private var position = 0
  /// Whether the chunk under way has the flag 0xFF; valid once `isDecided`.
  private var isLast = false
  /// Whether bytes of this chunk were offered. TLS may hold them already, so its flag must not change.
  private var isDecided = false
  private(set) var bytes: Int64 = 0
  /// Whether the last chunk is sent.
  private(set) var hasEnded = false

  /// Makes the random bytes once; sending takes no more of the generator.
  /// - Parameter size: Bytes of a chunk, at least 1.
  init(size: Int, generator: inout some RandomNumberGenerator) {
    var random = [UInt8]()
    random.reserveCapacity(size + 8)
    while random.count < size { withUnsafeBytes(of: generator.next()) { random.append(contentsOf: $0) } }
    random.removeLast(random.count - size)
    random[size - 1] = 0
    chunk = random
    random[size - 1] = 0xFF
    lastChunk = random
  }

  /// Offers the bytes that are due, at most `limit`, and counts those that `send` took.
  /// - Parameters:
  ///   - limit: The most bytes of one call, at least 1. No call goes beyond the end of a chunk.
  ///   - send: Sends a part of the bytes and says how many; 0 when it can take none now.
  /// - Returns: The bytes that `send` took; 0 also after the last chunk.
  mutating func write<Failure: Error>(
    isTimeUp: Bool, limit: Int, send: (UnsafeRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    guard !hasEnded else { return 0 }
    if !isDecided {
      isLast = isTimeUp
      isDecided = true
    }
    let source = isLast ? lastChunk : chunk
    let end = min(source.count, position + limit)
    let start = position
    let sent = try source.withUnsafeBufferPointer { bytes throws(Failure) in
      try send(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[start..<end])))
    }
    bytes &+= Int64(sent)
    position += sent
    if position == source.count {
      position = 0
      isDecided = false
      hasEnded = isLast
    }
    return sent
  }
}
