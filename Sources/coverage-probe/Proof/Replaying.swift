import Coverage
import Export
import OrderedJSON
import Service
import Settings
import Store

/// `replay`: cuts a recorded drive into fences again (docs/drive-log.md).
struct Replaying: Sendable {
  private let engine: Engine
  private let link: String?
  /// The parts of the log that could not be read, one line each.
  let complaints: [String]

  /// Replays the log at `path`, with the parameters of its recording unless other ones are set.
  /// - Parameters:
  ///   - configuration: A configuration file; its values and the environment's win over those of the log.
  ///   - minimumRadius: In metres; wins over all others.
  ///   - accuracyLimit: In metres; wins over all others.
  /// - Throws: ``InputFileError``, ``CommandFailure``, ``ConfigurationError``
  init(
    path: String, configuration: String?, minimumRadius: Double? = nil, accuracyLimit: Double? = nil,
    progress: WorkProgress = .none
  ) async throws {
    let data = try InputFile.contents(path, limit: RecordedDrive.largest)
    let drive: RecordedDrive
    do {
      drive = try RecordedDrive(data) { progress.show($0, of: "byte") { data.count } }
    } catch { throw CommandFailure("\(path): \(error)") }
    var defaults = ProbeConfiguration()
    if let recorded = drive.header.parameters { defaults.parameters = recorded }
    var parameters = try ProbeConfiguration.load(file: configuration, defaults: defaults).parameters
    if let minimumRadius { parameters.minimumRadius = minimumRadius }
    if let accuracyLimit { parameters.accuracyLimit = accuracyLimit }
    // The log's pings were sent already: settings cannot change how.
    if let sent = drive.header.pings { parameters.pingInterval = sent.interval }
    engine = Self.replay(drive, parameters, progress)
    link = drive.header.link
    complaints = Self.complaints(drive)
  }

  private static func replay(_ drive: RecordedDrive, _ parameters: Parameters, _ progress: WorkProgress) -> Engine {
    var engine = Engine(parameters: parameters, path: drive.header.initialPath)
    for (index, event) in drive.events.enumerated() {
      if index % 1024 == 0 { progress.show(index, of: "event") { drive.events.count } }
      _ = engine.handle(event)
    }
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

  /// Writes the fences in order of entry; JSON Lines ends with the summary.
  /// - Throws: Errors of `write`.
  func run(format: ExportFormat, write: ([UInt8]) throws -> Void) throws {
    let records = engine.fences.map {
      FenceRecord(replayed: $0, session: engine.sessions[$0.session], link: link)
    }
    try format.export(records, write: write)
    if format == .jsonl { try write(Array((summary.text + "\n").utf8)) }
  }

  /// The last line of JSON Lines: the counts of the whole drive, those of pings without a fence included.
  private var summary: JSON {
    .object([
      "summary": .object([
        "fences": .integer(Int64(engine.fences.count)),
        "submittable": .integer(Int64(engine.fences.filter(\.isSubmittable).count)),
        "pings": .integer(Int64(engine.pings.all)),
        "pings_ok": .integer(Int64(engine.pings.answered)),
        "pings_late": .integer(Int64(engine.pings.late)),
        "pings_unassigned": .integer(Int64(engine.pings.unassigned)),
        "pings_outside": .integer(Int64(engine.pings.outside)),
        "pings_paused": .integer(Int64(engine.pings.paused)),
        "pings_unsent": engine.pings.unsent > 0 ? .integer(Int64(engine.pings.unsent)) : nil,
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
