import Coverage
import Export
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

  private let reader: StoreReader
  private let choices: [Choice]
  private let grid: PlaceGrid
  private let least: LeastDifferences

  /// Opens the store for reading.
  /// - Throws: `StoreError`, ``ExportError``
  init(configuration: ProbeConfiguration, choices: [Choice], placeMetres: Double, least: LeastDifferences) throws {
    reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    (self.choices, grid, self.least) = (choices, PlaceGrid(metres: placeMetres), least)
    for session in choices.flatMap({ $0.sessions.sorted() }) where try reader.session(id: session) == nil {
      throw ExportError.noSuchSession(session)
    }
  }

  /// Reads the fences, the logs of their drives that are still there, and the speed tests.
  /// - Parameter complain: Receives a line for each log that cannot be read.
  func run(progress: WorkProgress = .none, complain: (String) -> Void) throws -> Report {
    var figures = choices.map { _ in ReportFigures() }
    var comparison = PlaceComparison(grid: grid)
    // Those of two choices can be any.
    let only = choices.count == 1 ? choices.first : nil
    let fences = StoredFences(reader, where: only?.conditions ?? FenceConditions())
    var read = 0
    try fences.forEach { stored in
      read += 1
      if read % 256 == 0 { progress.show(read, of: "fence") { try? fences.countToRead() } }
      for (index, choice) in choices.enumerated() where choice.selects(stored) {
        figures[index].add(ReportedFence(stored))
        if choices.count > 1, let side = PlaceComparison.Side(rawValue: index) {
          comparison.add(stored.fence, to: side)
        }
      }
    }
    for index in figures.indices {
      figures[index].endFences()
      try readLogs(for: &figures[index], progress, complain: complain)
      try readSpeedTests(of: choices[index], into: &figures[index])
    }
    return Report(
      parts: zip(choices, figures).map { Report.Part(title: $0.title, figures: $1) },
      comparison: choices.count > 1 ? comparison : nil, least: least)
  }

  private func readSpeedTests(of choice: Choice, into figures: inout ReportFigures) throws {
    try ChosenSpeedTests.forEach(
      reader, selection: choice.state, sessions: choice.sessions, filter: choice.filter
    ) { figures.add(ReportedSpeedTest($0)) }
  }

  /// Adds the figures of single pings and positions, which only drive logs have.
  private func readLogs(
    for figures: inout ReportFigures, _ progress: WorkProgress, complain: (String) -> Void
  ) throws {
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
          if unreadable > 0 { complain("drive \(drive.id): lines of the log that cannot be read: \(unreadable)") }
        }
      } catch let error as DriveLogError {
        complain("drive \(drive.id) has no figures of single pings: \(error)")
      }
    }
  }
}
