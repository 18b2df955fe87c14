import Foundation
import Logging

/// Collects lines that are logged or reported, from any thread.
public final class LogLines: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var lines: [(level: String, message: String, metadata: Logger.Metadata)] = []
  private let level: Logger.Level

  /// - Parameter level: The level of the loggers, which drop lower levels.
  public init(from level: Logger.Level = .trace) { self.level = level }

  /// The lines so far, as `level: message`.
  public var all: [String] { lock.withLock { lines.map { "\($0.level): \($0.message)" } } }

  /// The lines so far, without their levels.
  public var messages: [String] { lock.withLock { lines.map(\.message) } }

  /// Whether a line contains `text`.
  public func contains(_ text: String) -> Bool { messages.contains { $0.contains(text) } }

  /// Waits for a line that contains `text`.
  public func wait(for text: String) async throws {
    _ = try await eventually("a line with \"\(text)\"") { contains(text) ? () : nil }
  }

  /// Adds a line that no logger wrote.
  public func append(_ message: String, level: String = "test", metadata: Logger.Metadata = [:]) {
    lock.withLock { lines.append((level, message, metadata)) }
  }

  /// The values of `key` in the metadata of the lines that contain `text`; `nil` for a line without it.
  public func metadata(_ key: String, ofLinesWith text: String) -> [String?] {
    lock.withLock { lines }.filter { $0.message.contains(text) }.map { line in line.metadata[key].map { "\($0)" } }
  }

  public var logger: Logger {
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

    func log(event: LogEvent) {
      lines.append("\(event.message)", level: "\(event.level)", metadata: event.metadata ?? [:])
    }
  }
}

extension Logger {
  /// Drops every line.
  public static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
