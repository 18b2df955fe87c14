/// A command of the client. The size of chunks is in every command that has chunks: on the server it is sticky (docs/protocol.md, edge 12).
enum ClientCommand: Hashable, Sendable {
  /// Identifies the test; the first command of each connection.
  case token(MeasurementToken)
  /// A download of `count` chunks, for the pre-test.
  case getChunks(count: Int, size: Int)
  /// A download of whole seconds on the server, for the main phase.
  case getTime(seconds: Int, size: Int)
  /// An upload with reports of the server while bytes flow, for the main phase.
  case put(size: Int)
  /// An upload with one time at its end, for the pre-test.
  case putNoResult(size: Int)
  /// One exchange of PING and PONG.
  case ping
  /// The end of the connection; the server replies BYE.
  case quit

  /// The first word, as ACCEPT lists it.
  var word: String { String(line.prefix { !$0.isWhitespace }) }

  /// The whole line, ended by LF alone (docs/protocol.md, edge 11).
  var line: String {
    switch self {
    case .token(let token): "TOKEN \(token.text)\n"
    case .getChunks(let count, let size): "GETCHUNKS \(count) \(size)\n"
    case .getTime(let seconds, let size): "GETTIME \(seconds) \(size)\n"
    case .put(let size): "PUT \(size)\n"
    case .putNoResult(let size): "PUTNORESULT \(size)\n"
    case .ping: "PING\n"
    case .quit: "QUIT\n"
    }
  }

  /// Whether its numbers are in the ranges of the protocol (docs/protocol.md, edges 13 and 14).
  var isInRange: Bool {
    switch self {
    case .getChunks(let count, let size): (1...300_000).contains(count) && Self.isSize(size)
    case .getTime(let seconds, let size): (1...30).contains(seconds) && Self.isSize(size)
    case .put(let size), .putNoResult(let size): Self.isSize(size)
    case .token, .ping, .quit: true
    }
  }

  /// From 1 on, as the only size of an old server can be below 4096 (``ChunkSizes/clamped(_:)``).
  private static func isSize(_ size: Int) -> Bool { (1...ChunkSizes.protocolRange.upperBound).contains(size) }

  /// Whether the server answers with chunks. They come at once, without an OK before them.
  var isDownload: Bool {
    switch self {
    case .getChunks, .getTime: true
    default: false
    }
  }

  /// Whether the client sends chunks after the server's OK.
  var isUpload: Bool {
    switch self {
    case .put, .putNoResult: true
    default: false
    }
  }
}
