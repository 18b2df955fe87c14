import Coverage
import Logging
import Subprocess
import SystemPackage

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
    do {
      let ended = try await Subprocess.run(
        .path(FilePath(path)), input: .none, output: .sequence, error: .discarded
      ) { execution in
        for try await line in execution.standardOutput.strings() { report(line, from: path, deliver) }
      }
      return "ended (\(ended.terminationStatus))"
    } catch {
      return "failed: \(error)"
    }
  }

  private func report(_ line: String, from path: String, _ deliver: (Technology?) -> Void) {
    switch TechnologyLine(line) {
    case .technology(let technology): deliver(technology)
    case .unknown(let text):
      let names = Technology.knownNames.joined(separator: ", ")
      logger.warning("radio.source: \(path) says \"\(text)\", which is no technology; known: \(names)")
    }
  }
}

/// What a radio program means by one line. An empty line, `none` or `NONE`: no service.
enum TechnologyLine: Hashable {
  case technology(Technology?)
  case unknown(String)

  init(_ line: String) {
    let text = String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    let technology = Technology(text)
    if ["", "none", "NONE"].contains(text) {
      self = .technology(nil)
    } else if technology.isKnown {
      self = .technology(technology)
    } else {
      self = .unknown(String(text.prefix(60)))
    }
  }
}
