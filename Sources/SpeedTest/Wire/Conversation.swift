/// The order of lines on one connection: an ACCEPT line is read, one command is written, its replies are read until the next
/// ACCEPT line. A line or a command out of order throws, so no caller can pipeline commands (spec, edge 9).
struct Conversation: Sendable {
  enum Stage: Hashable, Sendable {
    case greeting
    case firstAccept
    /// The next write is one of the commands in the set.
    case mayCommand([String])
    /// The command was written; its first reply is outstanding.
    case asked(ClientCommand)
    /// The server's chunks, or the client's, are under way.
    case chunks(ClientCommand)
    /// The next write is the client's OK.
    case mustAcknowledge(ClientCommand)
    /// The server's last time is outstanding.
    case lastTime
    /// The token was accepted, the sizes are outstanding.
    case sizes
    /// A command ended; its ACCEPT line is outstanding.
    case accept
    case ended
  }

  private(set) var stage = Stage.greeting
  /// The server's version.
  private(set) var version = ""
  /// The server's sizes of a chunk; `nil` before the token was accepted.
  private(set) var sizes: ChunkSizes?
  private var isTokenAccepted = false

  /// Whether a command other than TOKEN may be written now.
  var isReady: Bool {
    if case .mayCommand = stage { return isTokenAccepted }
    return false
  }

  /// The bytes of `command`, to be sent in one write.
  mutating func write(_ command: ClientCommand) throws(SpeedTestError) -> [UInt8] {
    guard case .mayCommand(let words) = stage else { throw .protocolError("\(command.word) before ACCEPT") }
    guard words.contains(command.word) else { throw .commandRefused(command.word) }
    guard command.isInRange else { throw .protocolError("\(command.word) out of range") }
    stage = command.isDownload ? .chunks(command) : .asked(command)
    return Array(command.line.utf8)
  }

  /// The last chunk was read or written.
  mutating func chunksEnded() throws(SpeedTestError) {
    guard case .chunks(let command) = stage else { throw .protocolError("chunks without a command") }
    stage = command.isDownload ? .mustAcknowledge(command) : .lastTime
  }

  /// The client's OK.
  mutating func acknowledge() throws(SpeedTestError) -> [UInt8] {
    guard case .mustAcknowledge = stage else { throw .protocolError("OK without a reply") }
    stage = .lastTime
    return Array("OK\n".utf8)
  }

  /// Applies the server's next line.
  /// - Throws: ``SpeedTestError`` for a line that does not belong here.
  mutating func read(_ line: ServerLine) throws(SpeedTestError) {
    stage = try following(line)
  }

  private mutating func following(_ line: ServerLine) throws(SpeedTestError) -> Stage {
    switch (stage, line) {
    case (.greeting, .greeting(let version)):
      self.version = version
      return .firstAccept
    case (.firstAccept, .accept(let words)), (.accept, .accept(let words)): return .mayCommand(words)
    case (.asked(.token), .ok):
      isTokenAccepted = true
      return .sizes
    case (.asked(.token), .err): throw .tokenRefused
    case (.sizes, .chunkSizes(let sizes)):
      self.sizes = sizes
      return .accept
    case (.asked(.quit), .bye): return .ended
    case (.asked(.ping), .pong): return .mustAcknowledge(.ping)
    case (.asked(let command), .ok) where command.isUpload: return .chunks(command)
    case (.chunks(.put), .time(_, .some)): return stage
    case (.lastTime, .time(_, .some)): return .lastTime
    case (.lastTime, .time(_, nil)): return .accept
    // The connection stays usable: the ACCEPT line follows.
    case (.asked, .err), (.chunks, .err), (.lastTime, .err): return .accept
    default: throw .protocolError("\(line) at the stage \(stage)")
    }
  }

  /// The error that an end of the connection means at this stage. Before `ACCEPT TOKEN` it never is a refused token (spec, edges 5 and 7).
  var meaningOfEnd: SpeedTestError? {
    switch stage {
    case .asked(.token): .tokenRefused
    case .asked(.quit), .ended: nil
    default: .closed
    }
  }

  /// Whether a fresh connection that ends now is worth another one (spec, edge 5).
  var mayRetry: Bool { stage == .greeting || stage == .firstAccept }
}
