import Coverage

/// A line of the log as the journal takes it with fields of its own (systemd's "Native Journal Protocol").
public struct JournalEntry: Hashable, Sendable {
  private let line: String
  private let priority: Int
  private let event: OperatorEvent

  /// - Parameters:
  ///   - line: One line, without control characters.
  ///   - priority: 2 (critical) to 7 (debug), as in syslog(3).
  ///   - event: Gives the entry its `MESSAGE_ID`.
  public init(_ line: String, priority: Int, _ event: OperatorEvent) {
    (self.line, self.priority, self.event) = (line, priority, event)
  }

  /// The fields, each a line.
  public var datagram: [UInt8] {
    let fields = [
      "MESSAGE=\(line)", "PRIORITY=\(priority)", "MESSAGE_ID=\(event.messageID)", "COVERAGE_PROBE_EVENT=\(event)",
      "SYSLOG_IDENTIFIER=\(Program.name)",
    ]
    return Array((fields.joined(separator: "\n") + "\n").utf8)
  }
}
