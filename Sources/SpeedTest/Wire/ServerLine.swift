/// A line of the measurement server, parsed but not judged: ``Conversation`` decides whether it may come now (docs/protocol.md, 7.2).
enum ServerLine: Hashable, Sendable {
  /// The version without `RMBTv`.
  case greeting(version: String)
  /// The commands that the server takes next; their order has no meaning.
  case accept([String])
  case chunkSizes(ChunkSizes)
  /// The time of the server in ns; `bytes` received until then only in interim reports of PUT.
  case time(nanoseconds: Int64, bytes: Int64?)
  case ok, err, pong, bye

  /// Larger numbers are refused: as ns they are 104 days, and sums of them could overflow.
  private static let greatest: Int64 = 1 << 53

  /// Parses a line without its LF.
  /// - Throws: ``SpeedTestError/protocolError(_:)`` for any other text, with its first 60 characters.
  init(_ text: String) throws(SpeedTestError) {
    let words = text.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("OK", 1): self = .ok
    case ("ERR", 1): self = .err
    case ("PONG", 1): self = .pong
    case ("BYE", 1): self = .bye
    case ("ACCEPT", 2...): self = .accept(Array(words.dropFirst()))
    case ("CHUNKSIZE", 2), ("CHUNKSIZE", 4):
      var numbers: [Int64] = []
      for word in words.dropFirst() { numbers.append(try Self.number(word, text)) }
      self = .chunkSizes(try ChunkSizes(numbers))
    // The form with BYTES first: a match of the prefix alone would take it for the last one (edge 18).
    case ("TIME", 4) where words[2] == "BYTES":
      self = .time(nanoseconds: try Self.number(words[1], text), bytes: try Self.number(words[3], text))
    case ("TIME", 2): self = .time(nanoseconds: try Self.number(words[1], text), bytes: nil)
    case (let word?, 1) where word.hasPrefix("RMBTv"):
      // By its prefix only: versions have two or three parts, and newer ones are to be tried (edge 6).
      self = .greeting(version: String(word.dropFirst(5)))
    default: throw .protocolError("\"\(text.prefix(60))\"")
    }
  }

  /// Decimal digits without a sign.
  /// - Parameter line: The whole line, for the error.
  private static func number(_ word: String, _ line: String) throws(SpeedTestError) -> Int64 {
    guard word.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(word), value <= greatest else {
      throw .protocolError("\"\(line.prefix(60))\"")
    }
    return value
  }
}
