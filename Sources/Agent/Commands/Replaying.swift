import Coverage
import DriveLog
import Export
import OrderedJSON
import Settings

/// `replay`: cuts a recorded drive into fences again (design.md, contract 3).
public struct Replaying: Sendable {
  private let engine: Engine
  private let link: String?
  /// What could not be read of the log, one line each.
  public let complaints: [String]

  /// Replays the log at `path` with the parameters that it was recorded with, as far as nothing else is set.
  /// - Parameters:
  ///   - configuration: A configuration file; it and the environment win over the log.
  ///   - minimumRadius: Metres; wins over all.
  ///   - accuracyLimit: Metres; wins over all.
  /// - Throws: ``InputFileError``, ``ReplayError``, ``ConfigurationError``
  public init(
    path: String, configuration: String?, minimumRadius: Double? = nil, accuracyLimit: Double? = nil
  ) async throws {
    let data = try InputFile.contents(path)
    let drive: RecordedDrive
    do { drive = try RecordedDrive(data) } catch { throw ReplayError(path: path, reason: "\(error)") }
    var defaults = ProbeConfiguration()
    if let recorded = drive.header.parameters { defaults.parameters = recorded }
    var parameters = try ProbeConfiguration.load(file: configuration, defaults: defaults).parameters
    if let minimumRadius { parameters.minimumRadius = minimumRadius }
    if let accuracyLimit { parameters.accuracyLimit = accuracyLimit }
    // How pings were sent is no matter of settings any more.
    if let sent = drive.header.pings { parameters.pingInterval = sent.interval }
    engine = Self.replay(drive, parameters)
    link = drive.header.link
    complaints = Self.complaints(drive)
  }

  private static func replay(_ drive: RecordedDrive, _ parameters: Parameters) -> Engine {
    var engine = Engine(parameters: parameters, path: drive.header.initialPath)
    for event in drive.events { _ = engine.handle(event) }
    _ = engine.handle(Event(at: engine.now, .stop(.endOfLog)))
    return engine
  }

  private static func complaints(_ drive: RecordedDrive) -> [String] {
    var complaints = drive.garbage.prefix(10).map { "line \($0.number) skipped: \($0.reason)" }
    if drive.garbage.count > 10 {
      complaints.append("\(counted(drive.garbage.count - 10, "more line", "more lines")) skipped")
    }
    if drive.unknownEvents > 0 { complaints.append("\(counted(drive.unknownEvents, "event")) of unknown kind skipped") }
    if drive.isTorn { complaints.append("the last line is cut off, as by a power cut; it was skipped") }
    return complaints
  }

  /// Writes the fences in order of entry, and behind them, in JSON Lines, the summary.
  public func run(format: ExportFormat, write: ([UInt8]) throws -> Void) throws {
    let records = engine.fences.map {
      FenceRecord(fence: $0, session: engine.sessions[$0.session], origin: .replay, link: link)
    }
    try format.export(records, write: write)
    if format == .jsonl { try write(Array((summary.text + "\n").utf8)) }
  }

  private var summary: JSON {
    .object([
      "summary": .object([
        "fences": .integer(Int64(engine.fences.count)),
        "submittable": .integer(Int64(engine.fences.filter(\.isSubmittable).count)),
        "pings": .integer(Int64(engine.pings)),
        "pings_ok": .integer(Int64(engine.pingsAnswered)),
        "pings_unassigned": .integer(Int64(engine.pingsUnassigned)),
        "stopped": engine.stopped.map { .seconds($0.at) },
        "stop_reason": engine.stopped.map { .string($0.reason.rawValue) },
        "warnings": .array(
          engine.warnings.map { warning in
            .object([
              "kind": .string(warning.kind.rawValue), "from": .seconds(warning.from),
              "to": warning.to.map(JSON.seconds),
            ])
          }),
      ])
    ])
  }
}

/// A file cannot be replayed.
public struct ReplayError: Error, Hashable, CustomStringConvertible {
  public let path: String
  public let reason: String

  public var description: String { "\(path): \(reason)" }
}
