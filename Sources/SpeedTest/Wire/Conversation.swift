/// The order of lines on one connection, as a value without I/O; ``Connection`` writes and reads the bytes. An ACCEPT line is
/// read, one command is written, its replies are read until the next ACCEPT line. A line or a command out of order throws, so no
/// caller can pipeline commands (docs/protocol.md, edge 9).
struct Conversation: Sendable {
  /// The event that must come next.
  enum Stage: Hashable, Sendable {
    /// The connection is fresh: the greeting is outstanding.
    case greeting
    /// The greeting was read; `ACCEPT TOKEN QUIT` is outstanding.
    case firstAccept
    /// The next write is one of the commands in the set.
    case mayCommand([String])
    /// The command was written; its first reply is outstanding.
    case asked(ClientCommand)
    /// The chunks of the server or the client are under way.
    case chunks(ClientCommand)
    /// The next write is the client's OK.
    case mustAcknowledge(ClientCommand)
    /// The server's last time is outstanding.
    case lastTime
    /// The token was accepted, the sizes are outstanding.
    case sizes
    /// A command ended; its ACCEPT line is outstanding.
    case accept
    /// BYE was read.
    case ended

    /// The first word of the command under way. Messages have it without the rest: the token is a secret.
    var command: String {
      switch self {
      case .asked(let command), .chunks(let command), .mustAcknowledge(let command): command.word
      case .sizes: "TOKEN"
      default: "a command"
      }
    }

    /// For error messages: the place of a line.
    var text: String {
      switch self {
      case .greeting, .firstAccept: "in place of the greeting"
      case .mayCommand: "before a command"
      case .asked: "as the reply to \(command)"
      case .chunks, .mustAcknowledge: "in the middle of \(command)"
      case .lastTime, .sizes, .accept: "at the end of \(command)"
      case .ended: "after BYE"
      }
    }
  }

  private(set) var stage = Stage.greeting
  /// The version of the greeting, without `RMBTv`; empty before.
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
  /// - Throws: ``SpeedTestError/commandRefused(_:)`` when ACCEPT does not list the command, ``SpeedTestError/protocolError(_:)``
  ///   before ACCEPT, or for a number out of range.
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

  /// The bytes of the client's OK to a PONG or to the last chunk.
  mutating func acknowledge() throws(SpeedTestError) -> [UInt8] {
    guard case .mustAcknowledge = stage else { throw .protocolError("OK without a reply") }
    stage = .lastTime
    return Array("OK\n".utf8)
  }

  /// Applies the server's next line.
  /// - Throws: ``SpeedTestError/tokenRefused`` for ERR to TOKEN, ``SpeedTestError/protocolError(_:)`` for a line that does not
  ///   belong here. ERR to another command does not throw: the caller has to look at the line.
  mutating func read(_ line: ServerLine) throws(SpeedTestError) {
    stage = try following(line)
  }

  /// The stage after `line`.
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
    // Interim reports come while the client writes, and after its last chunk.
    case (.chunks(.put), .time(_, .some)): return stage
    case (.lastTime, .time(_, .some)): return .lastTime
    case (.lastTime, .time(_, nil)): return .accept
    // The connection stays usable: the ACCEPT line follows.
    case (.asked, .err), (.chunks, .err), (.lastTime, .err): return .accept
    default: throw .protocolError("\(line) \(stage.text)")
    }
  }

  /// The error that an end of the connection means at this stage; `nil` after QUIT. Before TOKEN was sent, it is never a refused
  /// token (docs/protocol.md, edges 5 and 7).
  var meaningOfEnd: SpeedTestError? {
    switch stage {
    case .asked(.token): .tokenRefused
    case .asked(.quit), .ended: nil
    default: .closed
    }
  }

  /// Whether to open the connection again when it ends at this stage (docs/protocol.md, edge 5).
  var mayRetry: Bool { stage == .greeting || stage == .firstAccept }
}
