import Foundation
import Logging

/// Collects what is logged, from any thread.
final class LogLines: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var lines: [(level: String, message: String)] = []
  private let level: Logger.Level

  /// - Parameter level: Of the loggers; they leave out what is below.
  init(from level: Logger.Level = .trace) { self.level = level }

  /// The lines so far, as `level: message`.
  var all: [String] { lock.withLock { lines.map { "\($0.level): \($0.message)" } } }

  /// The lines so far, without their levels.
  var messages: [String] { lock.withLock { lines.map(\.message) } }

  /// Adds a line that no logger wrote.
  func append(_ message: String, level: String = "test") { lock.withLock { lines.append((level, message)) } }

  var logger: Logger {
    var logger = Logger(label: "test") { _ in Handler(lines: self) }
    logger.logLevel = level
    return logger
  }

  private struct Handler: LogHandler {
    let lines: LogLines
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.append("\(event.message)", level: "\(event.level)") }
  }
}
