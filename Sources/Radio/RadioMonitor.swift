import Coverage
import Logging
import Subprocess
import SystemPackage

/// Reports the modem's radio technology, and its changes.
public struct RadioMonitor: Sendable {
  private let source: RadioSource
  private let interface: String?
  private let mayConfigure: Bool
  private let restartDelay: Duration
  private let logger: Logger

  /// - Parameters:
  ///   - source: Where the technology comes from.
  ///   - interface: The interface of the measured link: with several modems, the one with this port counts.
  ///   - mayConfigure: Whether ModemManager may be asked to report the signal and the cell.
  ///   - restartDelay: The wait before a program that ended is started again.
  ///   - logger: Logs unknown technologies and the end of the program.
  public init(
    source: RadioSource, interface: String? = nil, mayConfigure: Bool = true, restartDelay: Duration = .seconds(10),
    logger: Logger
  ) {
    self.source = source
    self.interface = interface
    self.mayConfigure = mayConfigure
    self.restartDelay = restartDelay
    self.logger = logger
  }

  /// Delivers the reading now, and every change, until the task is cancelled.
  public func run(_ deliver: @escaping @Sendable (RadioReading) -> Void) async {
    switch source {
    case .none: return
    case .fixed(let technology): deliver(RadioReading(technology: technology))
    case .auto, .modemManager:
      #if canImport(CSystemd)
        let client = ModemManagerClient(
          interface: interface, isRequired: source == .modemManager, mayConfigure: mayConfigure, logger: logger)
        await client.run(deliver)
      #else
        let level: Logger.Level = source == .auto ? .info : .warning
        logger.log(level: level, "radio.source: this build has no libsystemd, so that it cannot ask ModemManager")
      #endif
    case .command(let path): await run(path, deliver)
    }
  }

  private func run(_ path: String, _ deliver: @escaping @Sendable (RadioReading) -> Void) async {
    while !Task.isCancelled {
      let reason = await runOnce(path, deliver)
      guard !Task.isCancelled else { return }
      logger.warning(
        "radio.source: \(path) \(reason); the technology is unknown, starting it again in \(restartDelay)",
        metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.modem)])
      deliver(RadioReading())
      do { try await Task.sleep(for: restartDelay) } catch { return }
    }
  }

  /// Runs the program until it ends.
  /// - Returns: Why it ended, for the log.
  private func runOnce(_ path: String, _ deliver: @escaping @Sendable (RadioReading) -> Void) async -> String {
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

  private func report(_ line: String, from path: String, _ deliver: (RadioReading) -> Void) {
    switch RadioLine(line) {
    case .reading(let reading): deliver(reading)
    case .unknown(let text):
      let names = Technology.knownNames.joined(separator: ", ")
      logger.warning("radio.source: \(path) says \"\(text)\", which is not a known technology; known: \(names)")
    }
  }
}
