import Coverage
import Foundation
import Logging
import Service
import Synchronization

/// systemd's journal as the reader of standard error.
enum Journal {
  /// Whether standard error is the stream in `JOURNAL_STREAM`; a redirected one is not (systemd.exec(5)).
  static let isReader: Bool = {
    var status = stat()
    guard fstat(STDERR_FILENO, &status) == 0 else { return false }
    return ProcessInfo.processInfo.environment["JOURNAL_STREAM"] == "\(status.st_dev):\(status.st_ino)"
  }()

  /// The journal's sign for the priority of a line (sd-daemon(3)).
  static func prefix(of level: Logger.Level) -> String {
    "<\(priority(of: level))>"
  }

  /// Writes a line that operators filter for, with the identifier of its event.
  /// - Returns: Whether the journal has it; if not, it is to be written like others.
  static func note(_ line: String, _ level: Logger.Level, _ event: OperatorEvent) -> Bool {
    guard isReader else { return false }
    return UnixDatagram.send(entry(line, level, event), to: Array("/run/systemd/journal/socket".utf8)) == nil
  }

  /// The line with fields of its own, each a line (systemd's "Native Journal Protocol").
  static func entry(_ line: String, _ level: Logger.Level, _ event: OperatorEvent) -> [UInt8] {
    let fields = [
      "MESSAGE=\(line)", "PRIORITY=\(priority(of: level))", "MESSAGE_ID=\(event.messageID)",
      "COVERAGE_PROBE_EVENT=\(event)", "SYSLOG_IDENTIFIER=\(Program.name)",
    ]
    return Array((fields.joined(separator: "\n") + "\n").utf8)
  }

  private static func priority(of level: Logger.Level) -> Int {
    switch level {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }
}

/// The panel in the live area.
final class LivePanel: Sendable {
  private let panel = Mutex(Panel())

  /// Shows the state of another second.
  func show(_ state: PanelState) {
    let now = panel.withLock { panel in
      panel.update(state)
      return panel
    }
    LiveArea.show { columns, rows in now.lines(columns: columns, rows: rows, isColoured: LiveArea.isColoured) }
  }
}
