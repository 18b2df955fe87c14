/// A command of the client. The size of chunks is in every command that has chunks: on the server it is sticky (spec, edge 12).
enum ClientCommand: Hashable, Sendable {
  case token(MeasurementToken)
  case getChunks(count: Int, size: Int)
  case getTime(seconds: Int, size: Int)
  case put(size: Int)
  case putNoResult(size: Int)
  case ping
  case quit

  /// The first word, as ACCEPT lists it.
  var word: String {
    switch self {
    case .token: "TOKEN"
    case .getChunks: "GETCHUNKS"
    case .getTime: "GETTIME"
    case .put: "PUT"
    case .putNoResult: "PUTNORESULT"
    case .ping: "PING"
    case .quit: "QUIT"
    }
  }

  /// The whole line, ended by LF alone (spec, edge 11).
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

  /// Whether its numbers are in the ranges of the protocol (spec, edges 13 and 14).
  var isInRange: Bool {
    switch self {
    case .getChunks(let count, let size): (1...300_000).contains(count) && Self.isSize(size)
    case .getTime(let seconds, let size): (1...30).contains(seconds) && Self.isSize(size)
    case .put(let size), .putNoResult(let size): Self.isSize(size)
    case .token, .ping, .quit: true
    }
  }

  private static func isSize(_ size: Int) -> Bool { (1...ChunkSizes.protocolRange.upperBound).contains(size) }

  /// Whether the server answers with chunks.
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
