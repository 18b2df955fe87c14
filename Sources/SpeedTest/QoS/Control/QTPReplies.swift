/// Assigns the lines of a QoS server to commands, by their numbers. Replies come in any order (docs/protocol.md, edge 41).
struct QTPReplies: Sendable {
  /// The number of the newest command; numbers begin at 1.
  private var last: Int64 = 0
  /// Commands that wait for a reply.
  private var open: Set<Int64> = []
  /// Replies that no caller has fetched yet.
  private var answers: [Int64: String] = [:]
  /// Lines that no command waited for.
  private(set) var strays = 0

  /// The number of a new command.
  /// - Parameter hasReply: `false` for a command that has no reply of its own: `TCPTEST IN`, `UDPTEST IN`.
  mutating func issue(hasReply: Bool = true) -> Int64 {
    last += 1
    if hasReply { open.insert(last) }
    return last
  }

  /// Applies a line. A line without a number answers the waiting command if there is exactly one.
  mutating func read(_ line: QTPLine) {
    guard let id = line.id ?? (open.count == 1 ? open.first : nil), open.remove(id) != nil else {
      strays += 1
      return
    }
    answers[id] = line.text
  }

  /// The reply to a command, once; `nil` until it is there.
  mutating func removeReply(to id: Int64) -> String? { answers.removeValue(forKey: id) }

  /// The caller no longer waits for this reply.
  mutating func abandon(_ id: Int64) {
    open.remove(id)
    answers[id] = nil
  }
}
