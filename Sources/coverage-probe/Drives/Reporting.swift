import Coverage
import Export
import OrderedJSON
import Service
import Settings
import Store

/// `report`: the figures of stored drives, for people and for programs.
struct Reporting: Sendable {
  struct Choice: Sendable {
    /// What is selected, for people.
    let title: String
    let state: ExportSelection
    /// The ids of the only sessions; empty for all.
    let sessions: Set<Int64>
    let filter: FenceFilter

    /// What the store can leave out.
    var conditions: FenceConditions { filter.conditions(sessions: sessions) }

    /// Whether the fence has ended and meets all conditions.
    func selects(_ stored: StoredFence) -> Bool {
      stored.fence.exited != nil && (sessions.isEmpty || sessions.contains(stored.session.id))
        && state.selects(stored) && filter.selects(FenceRecord(stored))
    }
  }

  /// What a report needs beside its selections.
  struct Options {
    /// The size of the places of a comparison.
    var placeMetres = 50.0
    /// The differences that matter.
    var least = LeastDifferences()
    /// The user's own areas.
    var areas: AreaList?
    /// When and by whom it is made.
    var origin = Report.Origin()
  }

  let reader: StoreReader
  let choices: [Choice]
  let options: Options
  /// How long fences stay in the store.
  let retention: Retention
  private let settings: JSON

  /// Opens the store for reading.
  /// - Parameters:
  ///   - configuration: Names the state directory.
  ///   - choices: The selection, and the one to compare it with if there is one.
  ///   - options: What the report needs beside them.
  /// - Throws: `StoreError`, ``ExportError``
  init(configuration: ProbeConfiguration, choices: [Choice], options: Options = Options()) throws {
    reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    (self.choices, self.options, settings) = (choices, options, configuration.provenance)
    retention = Retention(maxAge: configuration.submission.maxAge, keep: configuration.submission.keep)
    for session in choices.flatMap({ $0.sessions.sorted() }) where try reader.session(id: session) == nil {
      throw ExportError.noSuchSession(session)
    }
  }

  /// Reads the fences, the logs of their drives that are still there, and the speed tests.
  /// - Parameter complain: Receives a line for each log that cannot be read.
  func run(progress: WorkProgress = .none, complain: (String) -> Void) throws -> Report {
    var figures = choices.map { _ in ReportFigures(areas: options.areas) }
    var comparison = PlaceComparison(grid: PlaceGrid(metres: options.placeMetres))
    var sessions = choices.map { _ in [Int64: (session: StoredSession, fences: Int)]() }
    try forEachFence(progress) { index, stored in
      figures[index].add(stored)
      sessions[index][stored.session.id, default: (stored.session, 0)].fences += 1
      if choices.count > 1, let side = PlaceComparison.Side(rawValue: index) { comparison.add(stored.fence, to: side) }
    }
    let (identity, logs) = (try reader.identity(), try reader.driveLogs())
    let parts = try choices.indices.map { index in
      try end(&figures[index], progress) { complain($1) }
      let choice = choices[index]
      try ChosenSpeedTests.forEach(
        reader, selection: choice.state, sessions: choice.sessions, filter: choice.filter
      ) { figures[index].add(ReportedSpeedTest($0)) }
      let provenance = ExportProvenance(
        content: "report", exported: WallTime.current, store: identity,
        state: choice.state.rawValue, sessions: choice.sessions, filter: choice.filter, configuration: settings,
        drives: DriveProvenance.all(of: sessions[index], logs: logs) { done, count in
          progress.show(done, of: "digest") { count }
        })
      return Report.Part(title: choice.title, figures: figures[index], provenance: provenance)
    }
    return Report(
      parts: parts, comparison: choices.count > 1 ? comparison : nil, least: options.least, origin: options.origin)
  }

  /// Calls `body` with each selected fence and the number of its selection.
  /// - Throws: GRDB's `DatabaseError`, and errors of `body`.
  func forEachFence(_ progress: WorkProgress, _ body: (Int, StoredFence) throws -> Void) throws {
    // Those of two choices can be any.
    let only = choices.count == 1 ? choices.first : nil
    let fences = StoredFences(reader, where: only?.conditions ?? FenceConditions())
    var read = 0
    try fences.forEach { stored in
      read += 1
      if read % 256 == 0 { progress.show(read, of: "fence") { try? fences.countToRead() } }
      for (index, choice) in choices.enumerated() where choice.selects(stored) { try body(index, stored) }
    }
  }

  /// Ends figures after their last fence, with those of single pings and positions, which only drive logs have.
  /// - Parameter complain: Receives the drive and a line for each log that cannot be read.
  /// - Throws: GRDB's `DatabaseError`
  func end(_ figures: inout ReportFigures, _ progress: WorkProgress, complain: (Int64, String) -> Void) throws {
    figures.endFences()
    let wanted = figures.drives
    let drives = try reader.drivesWithLogs().filter { wanted.contains($0.id) }
    for (index, drive) in drives.enumerated() {
      progress.show(index, of: "drive log") { drives.count }
      do {
        let log = try LoggedPositions(path: drive.log)
        // The parameters at the time of the recording, not the present ones.
        let header = log.header
        try figures.addLog(of: drive.id, parameters: header.engineParameters, initialPath: header.initialPath) { body in
          let unreadable = try log.forEachEvent(body)
          if unreadable > 0 {
            complain(drive.id, "drive \(drive.id): lines of the log that cannot be read: \(unreadable)")
          }
        }
      } catch let error as DriveLogError {
        complain(drive.id, "drive \(drive.id) has no figures of single pings: \(error)")
      }
    }
  }
}
