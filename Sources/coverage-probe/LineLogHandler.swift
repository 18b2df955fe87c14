import Coverage
import Driving
import Logging

/// Writes a message as one line: time, level, message. The journal has the time itself.
struct LineLogHandler: LogHandler {
  var logLevel = Logger.Level.info
  var metadata = Logger.Metadata()
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let level = event.level == .info ? "" : "\(event.level): "
    let time = Journal.isReader ? "" : WallTime.current.iso8601Seconds + " "
    let link = metadata[Logger.linkKey].map { "\($0): " } ?? ""
    let line = "\(time)\(level)\(ForeignText.clean("\(link)\(event.message)", limit: Terminal.longestLine))"
    if case .stringConvertible(let value)? = event.metadata?[OperatorEvent.key], let named = value as? OperatorEvent,
      Journal.note(line, event.level, named)
    {
      return
    }
    Terminal.note(line, event.level)
  }
}

extension Terminal {
  static func logger() -> Logger {
    Logger(label: Program.name) { _ in LineLogHandler() }
  }
}
