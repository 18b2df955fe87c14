/// The opening of a control connection, line by line, as a value: greeting, ACCEPT, token, OK, ACCEPT. After it, replies have no
/// ACCEPT between them (docs/protocol.md, 8).
struct QTPOpening: Sendable {
  /// The line that must come next; at `ready` none.
  enum Stage: Hashable, Sendable {
    case greeting, tokenWanted, tokenSent, listing, ready
  }

  private(set) var stage = Stage.greeting

  /// - Returns: Whether the token is to be sent now.
  /// - Throws: ``SpeedTestError/tokenRefused``, or ``SpeedTestError/protocolError(_:)`` for any other line.
  mutating func read(_ line: String) throws(SpeedTestError) -> Bool {
    switch stage {
    case .greeting where line.hasPrefix("QoSSP"): stage = .tokenWanted
    case .tokenWanted where line.hasPrefix("ACCEPT"):
      stage = .tokenSent
      return true
    case .tokenSent where line == "OK": stage = .listing
    case .tokenSent where line.hasPrefix("ERR"): throw .tokenRefused
    case .listing where line.hasPrefix("ACCEPT"): stage = .ready
    default: throw .protocolError("a QoS server sent \"\(String(line.prefix(80)))\" (\(stage))")
    }
    return false
  }
}
