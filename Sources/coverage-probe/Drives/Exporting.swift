import Coverage
import Export
import Foundation
import Service
import Settings
import Store

/// `export`: writes fences as files; a map has the speed tests too.
struct Exporting: Sendable {
  /// How many fences an export has met.
  struct Count: Hashable, Sendable {
    /// Those that were written.
    var written = 0
    /// Those of the wanted sessions, times, places, technologies and links that have another state.
    var ofOtherState = 0
    /// When there is none of either, the others; damaged ones are among them.
    var filteredOut = 0
    /// The speed tests that were written.
    var speedTests = 0
    /// The speed tests of the wanted sessions, times, places and technologies that have another state.
    var speedTestsOfOtherState = 0
  }

  private let reader: StoreReader
  private let selection: ExportSelection
  private let sessions: Set<Int64>
  private let filter: FenceFilter

  /// Opens the store for reading.
  /// - Parameters:
  ///   - configuration: Names the state directory.
  ///   - selection: Which fences to export, by their state.
  ///   - sessions: The ids of the only sessions to export; empty for all.
  ///   - filter: Which of their fences.
  /// - Throws: `StoreError`, ``ExportError``
  init(
    configuration: ProbeConfiguration, selection: ExportSelection, sessions: Set<Int64> = [],
    filter: FenceFilter = FenceFilter()
  ) throws {
    reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    (self.selection, self.sessions, self.filter) = (selection, sessions, filter)
    for session in sessions.sorted() where try reader.session(id: session) == nil {
      throw ExportError.noSuchSession(session)
    }
  }

  /// Writes the fences, oldest session first, the fences of a session in order of entry.
  /// - Parameters:
  ///   - format: The format of the output.
  ///   - shape: For formats with a choice.
  ///   - scratch: A folder for a file while it is made; `nil`: that for temporary files.
  ///   - map: What a map page is made of.
  ///   - progress: Receives the number of fences so far, now and then.
  ///   - complain: Receives a line for each drive whose track cannot be read.
  ///   - write: Receives the output in pieces; errors that it throws end the export.
  /// - Throws: GRDB's `DatabaseError`, `GeoPackageError`, `LeafletError`, and errors of `write`.
  func run(
    format: ExportFormat, shape: FenceShape = .point, scratch: String? = nil, map: MapOptions = MapOptions(),
    progress: @escaping (Int) -> Void = { _ in }, complain: @escaping (String) -> Void = { _ in },
    write: ([UInt8]) throws -> Void
  ) throws -> Count {
    // The store reads only what meets the conditions.
    let only = sessions.count == 1 ? sessions.first : nil
    let chosen = ChosenFences(
      stored: StoredFences(reader, where: filter.conditions(sessions: sessions)), selection: selection, filter: filter,
      progress: progress)
    let tracks = StoredTracks(
      reader, session: only, filter: filter, where: { chosen.reading.sessions.contains($0) }, complain: complain)
    let speedTests = format.hasSpeedTests ? try chosenSpeedTests() : nil
    let tests = speedTests?.tests ?? []
    let statement = try reader.identity().map { identity in
      ExportStatement(
        identity, exported: WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)),
        state: selection.rawValue, filter: filter, isOfSessions: !sessions.isEmpty)
    }
    try format.export(
      chosen, tracks: tracks, speedTests: tests, shape: shape, statement: statement,
      scratch: scratch ?? FileManager.default.temporaryDirectory.path, map: map, write: write)
    var count = chosen.reading.count
    if count.written + count.ofOtherState == 0, !sessions.isEmpty || filter != FenceFilter() {
      count.filteredOut = try chosen.stored.count()
    }
    (count.speedTests, count.speedTestsOfOtherState) = (tests.count, speedTests?.ofOtherState ?? 0)
    return count
  }

  private func chosenSpeedTests() throws -> ChosenSpeedTests {
    try ChosenSpeedTests(reader, selection: selection, sessions: sessions, filter: filter)
  }
}

/// The ended fences of a selection. A format can read them several times; the counts are those of the last reading.
private struct ChosenFences: FenceRecords {
  /// The counts of the last reading.
  final class Reading {
    var count = Exporting.Count()
    /// The sessions of the fences that were written.
    var sessions: Set<Int64> = []
  }

  let stored: StoredFences
  let selection: ExportSelection
  let filter: FenceFilter
  let progress: (Int) -> Void
  let reading = Reading()

  /// The fences between two calls of ``progress``.
  private static let fencesPerReport = 1000

  func forEach(_ body: (FenceRecord) throws -> Void) throws {
    (reading.count, reading.sessions) = (Exporting.Count(), [])
    try stored.forEach { stored in
      guard stored.fence.exited != nil else { return }
      let record = FenceRecord(stored)
      guard filter.selects(record) else { return }
      guard selection.selects(stored) else {
        reading.count.ofOtherState += 1
        return
      }
      reading.count.written += 1
      reading.sessions.insert(stored.session.id)
      try body(record)
      if reading.count.written % Self.fencesPerReport == 0 { progress(reading.count.written) }
    }
  }
}
