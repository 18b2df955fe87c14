import Coverage
import Foundation
import Logging
import Synchronization

/// Reports the modem's radio technology, and with a capable source its signal and cell, whenever they change. A drive runs
/// one for each link; its readings go to the engine as events (`Driving`).
public struct RadioMonitor: Sendable {
  private let source: RadioSource
  private let interface: String?
  private let mayConfigure: Bool
  private let simName: (@Sendable (String) -> String?)?
  private let restartDelay: Duration
  private let patience: Duration
  private let logger: Logger

  /// - Parameters:
  ///   - source: Where the technology comes from.
  ///   - interface: The interface of the measured link: with several modems, the one with this network port counts. Only
  ///     ModemManager uses it.
  ///   - mayConfigure: Whether ModemManager may be asked to report the signal and the cell.
  ///   - simName: Turns the number of a SIM (ICCID) into the pseudonym that readings have; `nil`: they have none.
  ///   - restartDelay: The wait before a program that ended is started again.
  ///   - patience: The wait for the first line of a program before its lack is reported.
  ///   - logger: Logs unknown technologies, the end of the program, and why ModemManager reports nothing.
  public init(
    source: RadioSource, interface: String? = nil, mayConfigure: Bool = true,
    simName: (@Sendable (String) -> String?)? = nil, restartDelay: Duration = .seconds(10),
    patience: Duration = .seconds(10), logger: Logger
  ) {
    self.source = source
    self.interface = interface
    (self.mayConfigure, self.simName) = (mayConfigure, simName)
    (self.restartDelay, self.patience) = (restartDelay, patience)
    self.logger = logger
  }

  /// Delivers the reading now, and every change, until the task is cancelled. Returns at once where nothing can change:
  /// `none`, `fixed`, and ModemManager in a build without libsystemd.
  /// - Parameter report: Receives each reading without impossible values (`RadioReading/checked`), on a thread of its own with ModemManager.
  public func run(_ report: @escaping @Sendable (RadioReading) -> Void) async {
    let deliver: @Sendable (RadioReading) -> Void = { report($0.checked) }
    switch source {
    case .none: return
    case .fixed(let technology): deliver(RadioReading(technology: technology == .none ? nil : technology))
    case .auto, .modemManager:
      #if canImport(CSystemd)
        let client = ModemManagerClient(
          ModemManagerOptions(
            interface: interface, isRequired: source == .modemManager, mayConfigure: mayConfigure, simName: simName),
          logger: logger)
        await client.run(deliver)
      #else
        let level: Logger.Level = source == .auto ? .info : .warning
        logger.log(level: level, "radio.source: this build has no libsystemd, so that it cannot ask ModemManager")
      #endif
    case .command(let path): await run(path, deliver)
    }
  }

  /// Runs the program again and again. While it does not run, the technology is unknown.
  private func run(_ path: String, _ deliver: @escaping @Sendable (RadioReading) -> Void) async {
    var complaints = Complaints()
    let first = FirstLine()
    let waiting = Task { [patience, logger] in
      try await Task.sleep(for: patience)
      first.ifMissing {
        let lack = "\(path) has printed no whole line yet; a line ends with a line feed"
        logger.warning(
          "radio.source: \(lack)", metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.modem)])
        deliver(RadioReading(obstacle: lack))
      }
    }
    defer { waiting.cancel() }
    while !Task.isCancelled {
      let reason = await runOnce(path, first, &complaints, deliver)
      guard !Task.isCancelled else { break }
      complain(
        "\(path) \(reason); the technology is unknown, starting it again in \(restartDelay)", about: reason,
        &complaints,
        metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.modem)])
      deliver(RadioReading(obstacle: "\(path) \(reason)"))
      do { try await Task.sleep(for: restartDelay) } catch { break }
    }
    for (complaint, count) in complaints.unsaid {
      logger.notice("radio.source: \(complaint), \(count == 1 ? "once" : "\(count) times") more")
    }
  }

  /// Runs the program until it ends.
  /// - Returns: Why it ended, for the log.
  private func runOnce(
    _ path: String, _ first: FirstLine, _ complaints: inout Complaints,
    _ deliver: @escaping @Sendable (RadioReading) -> Void
  ) async -> String {
    do {
      let status = try await OperatorProgram(path: path).run { lines, dropped in
        first.came()
        if dropped > 0 {
          let rate = "prints more than \(LineRate.linesPerSecond) lines a second"
          complain(
            "\(path) \(rate); the last ones count", about: rate, times: dropped, of: "lines dropped", &complaints)
        }
        for line in lines { report(line, from: path, &complaints, deliver) }
      }
      return "ended (\(status))"
    } catch {
      return "failed: \(error)"
    }
  }

  private func report(
    _ line: String, from path: String, _ complaints: inout Complaints, _ deliver: (RadioReading) -> Void
  ) {
    switch RadioLine(line) {
    case .reading(let reading): deliver(reading)
    case .unknown(let text):
      let names = Technology.knownNames.joined(separator: ", ")
      complain(
        "\(path) says \"\(text)\", which is not a known technology; known: \(names)", about: "unknown technologies",
        &complaints)
    }
  }

  /// Logs a line about the program, at most one in ten minutes about each matter, with the number of times since the last one.
  private func complain(
    _ line: String, about matter: String, times: Int = 1, of unit: String = "times", _ complaints: inout Complaints,
    metadata: Logger.Metadata? = nil
  ) {
    guard let count = complaints.count(matter, times, at: .now) else { return }
    logger.warning("radio.source: \(line)\(count > 1 ? " (\(count) \(unit))" : "")", metadata: metadata)
  }
}

/// Whether a program has ever printed a line.
private final class FirstLine: Sendable {
  private let isThere = Mutex(false)

  func came() { isThere.withLock { $0 = true } }

  /// Runs `body` before the line, or not at all.
  func ifMissing(_ body: () -> Void) { isThere.withLock { if !$0 { body() } } }
}

/// Where the radio technology comes from: `radio.source` of the configuration.
public enum RadioSource: Hashable, Sendable {
  /// The technology is unknown.
  case none
  /// ModemManager where it is on the system bus, else as ``none``.
  case auto
  /// ModemManager, over D-Bus.
  case modemManager
  /// Always the same technology, without signal and cell.
  case fixed(Technology)
  /// The path of a program that prints a line at each change (``RadioLine``).
  case command(String)

  /// What the operator declares, without the place of a program; `nil`: the modem's word, or none.
  public var declared: String? {
    switch self {
    case .none, .auto, .modemManager: nil
    case .fixed(let technology): "fixed:\(technology.name)"
    case .command: "command"
    }
  }

  /// Reads `none`, `auto`, `modem-manager` (or `modemmanager`), `fixed:NAME` with a known technology, or `command:PATH`;
  /// `nil` for other text. It does not check that the program is there.
  public init?(_ text: String) {
    if let plain = Self.plain[text] {
      self = plain
    } else if text.hasPrefix("fixed:"), Technology(String(text.dropFirst(6))).isKnown {
      self = .fixed(Technology(String(text.dropFirst(6))))
    } else if text.hasPrefix("command:"), text.count > 8 {
      self = .command(String(text.dropFirst(8)))
    } else {
      return nil
    }
  }

  private static let plain: [String: RadioSource] = [
    "none": .none, "auto": .auto, "modem-manager": .modemManager, "modemmanager": .modemManager,
  ]
}

/// A line of the radio program's output (docs/radio.md). It only parses: ``RadioMonitor`` runs the program and logs unknown
/// lines.
enum RadioLine: Hashable {
  /// A known technology, or no service (an empty line, `none`, `NONE`); from a line of JSON also the modem's other values.
  case reading(RadioReading)
  /// Any other text, cut to 60 characters for the log: an unknown technology, or JSON of another form.
  case unknown(String)

  /// - Parameter line: Without its line end; spaces around it are ignored.
  init(_ line: String) {
    let text = String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    if text.first == "{" {
      // One wrong member refuses the whole line. A signal out of its range is dropped instead (`ModemReading`).
      let value = try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
      guard let value, let technology = Self.technology(value.technology ?? "none") else {
        self = .unknown(String(text.prefix(60)))
        return
      }
      self = .reading(Self.reading(technology, value.modem))
    } else if let technology = Self.technology(text) {
      self = .reading(Self.reading(technology))
    } else {
      self = .unknown(String(text.prefix(60)))
    }
  }

  /// `nil` for an unknown name; ``Technology/none`` for no service.
  private static func technology(_ name: String) -> Technology? {
    if ["", "none", "NONE"].contains(name) { return Technology.none }
    return Technology(name).isKnown ? Technology(name) : nil
  }

  /// A reading has no technology where there is no service; `Technology.none` is a name for the wire only.
  private static func reading(_ technology: Technology, _ modem: ModemReading? = nil) -> RadioReading {
    RadioReading(technology: technology == .none ? nil : technology, modem: modem)
  }

  /// A line of JSON: the technology beside the members of a drive log's `modem`.
  private struct Value: Decodable {
    let technology: String?
    let modem: ModemReading

    private enum Key: String, CodingKey {
      case technology
    }

    init(from decoder: any Decoder) throws {
      technology = try decoder.container(keyedBy: Key.self).decodeIfPresent(String.self, forKey: .technology)
      modem = try ModemReading(from: decoder)
    }
  }
}
