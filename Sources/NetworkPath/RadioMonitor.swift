import Coverage
import Foundation
import Logging

/// Tells the modem's radio technology, and when that changes.
public struct RadioMonitor: Sendable {
  private let source: RadioSource
  private let restartDelay: Duration
  private let logger: Logger

  public init(source: RadioSource, restartDelay: Duration = .seconds(10), logger: Logger) {
    self.source = source
    self.restartDelay = restartDelay
    self.logger = logger
  }

  /// Delivers the technology now, and every change, until the task is cancelled. `nil`: the modem has no service.
  public func run(_ deliver: @escaping @Sendable (Technology?) -> Void) async {
    switch source {
    case .none: return
    case .fixed(let technology): deliver(technology)
    case .command(let path): await run(path, deliver)
    }
  }

  private func run(_ path: String, _ deliver: @escaping @Sendable (Technology?) -> Void) async {
    while !Task.isCancelled {
      let reason = await runOnce(path, deliver)
      guard !Task.isCancelled else { return }
      logger.warning("radio.source: \(path) \(reason); the technology is unknown, starting it again in \(restartDelay)")
      deliver(nil)
      do { try await Task.sleep(for: restartDelay) } catch { return }
    }
  }

  /// - Returns: Why the program is not running any more.
  private func runOnce(_ path: String, _ deliver: @escaping @Sendable (Technology?) -> Void) async -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    let (chunks, continuation) = AsyncStream<Data>.makeStream()
    output.fileHandleForReading.readabilityHandler = { handle in
      let data = handle.availableData
      if data.isEmpty { continuation.finish() } else { continuation.yield(data) }
    }
    defer { output.fileHandleForReading.readabilityHandler = nil }
    do { try process.run() } catch { return "cannot be started: \(error.localizedDescription)" }
    let identifier = process.processIdentifier
    await withTaskCancellationHandler {
      var lines = TechnologyLines()
      for await chunk in chunks {
        for line in lines.push(chunk) { report(line, from: path, deliver) }
      }
    } onCancel: {
      kill(identifier, SIGTERM)
      continuation.finish()
    }
    process.waitUntilExit()
    return "ended with status \(process.terminationStatus)"
  }

  private func report(_ line: TechnologyLines.Line, from path: String, _ deliver: (Technology?) -> Void) {
    switch line {
    case .technology(let technology): deliver(technology)
    case .unknown(let text):
      logger.warning("radio.source: \(path) says \"\(text)\", which is no technology; known: \(Self.names)")
    }
  }

  private static var names: String { Technology.knownNames.joined(separator: ", ") }
}

/// Splits what a radio program prints into technologies. An empty line, `none` or `NONE`: no service.
struct TechnologyLines {
  enum Line: Hashable {
    case technology(Technology?)
    case unknown(String)
  }

  private var rest: [UInt8] = []

  mutating func push(_ bytes: some Sequence<UInt8>) -> [Line] {
    rest += bytes
    var lines: [Line] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(Self.line(String(decoding: rest[..<end].prefix(200), as: UTF8.self)))
      rest.removeFirst(end + 1)
    }
    if rest.count > 4096 { rest.removeAll() }
    return lines
  }

  private static func line(_ raw: String) -> Line {
    let text = raw.trimmingCharacters(in: .whitespaces)
    if ["", "none", "NONE"].contains(text) { return .technology(nil) }
    let technology = Technology(text)
    return technology.isKnown ? .technology(technology) : .unknown(text)
  }
}
