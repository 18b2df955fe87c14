import Coverage
import Driving
import Export
import Foundation
import OrderedJSON
import Service
import Settings
import Store

/// `export`: writes fences as files; a map has the speed tests too.
struct Exporting: Sendable {
  /// How many fences an export has met.
  struct Count: Hashable, Sendable {
    var written = 0
    /// Those of the wanted sessions, times, places, technologies and links that have another state.
    var ofOtherState = 0
    /// Fences that meet the conditions and have not ended.
    var open = 0
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
  private let configuration: JSON

  /// Opens the store for reading.
  /// - Parameter sessions: The ids of the only sessions to export; empty for all.
  /// - Throws: `StoreError`, ``ExportError``
  init(
    configuration: ProbeConfiguration, selection: ExportSelection, sessions: Set<Int64> = [],
    filter: FenceFilter = FenceFilter()
  ) throws {
    reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    (self.selection, self.sessions, self.filter) = (selection, sessions, filter)
    self.configuration = configuration.provenance
    for session in sessions.sorted() where try reader.session(id: session) == nil {
      throw ExportError.noSuchSession(session)
    }
  }

  /// Writes the fences, oldest session first, the fences of a session in order of entry.
  /// - Parameters:
  ///   - map: What a map page is made of.
  ///   - beside: Receives the provenance after the last piece, for a file of its own.
  ///   - complain: Receives a line for each drive whose track cannot be read, and about a base map that cannot be used whole.
  /// - Throws: GRDB's `DatabaseError`, `GeoPackageError`, `LeafletError`, and errors of `write`.
  func run(
    format: ExportFormat, shape: FenceShape = .point, scratch: String? = nil, map: MapOptions = MapOptions(),
    beside: ((ExportProvenance) throws -> Void)? = nil,
    progress: WorkProgress = .none, complain: @escaping (String) -> Void = { _ in },
    write: ([UInt8]) throws -> Void
  ) throws -> Count {
    // The store reads only what meets the conditions.
    let only = sessions.count == 1 ? sessions.first : nil
    let chosen = ChosenFences(
      reader: reader, selection: selection, sessions: sessions, filter: filter, progress: progress)
    let tracks = StoredTracks(
      reader, session: only, filter: filter, where: { chosen.reading.sessions[$0] != nil }, complain: complain)
    let speedTests =
      format.hasSpeedTests
      ? try ChosenSpeedTests(reader, selection: selection, sessions: sessions, filter: filter) : nil
    let tests = speedTests?.tests ?? []
    let (identity, now) = (try reader.identity(), WallTime.current)
    let statement = identity.map { identity in
      ExportStatement(
        identity, exported: now, state: selection.rawValue, filter: filter, isOfSessions: !sessions.isEmpty)
    }
    // The logs are read once.
    var known: ExportProvenance?
    let provenance: ProvenanceSource = {
      if let known { return known }
      if !chosen.reading.isComplete { try chosen.forEach("stored fence") { _ in } }
      let made = ExportProvenance(
        content: format.hasSpeedTests ? "fences and speed tests" : "fences", exported: now, store: identity,
        state: selection.rawValue, sessions: sessions, filter: filter, configuration: configuration,
        drives: try chosen.drives())
      known = made
      return made
    }
    try format.export(
      chosen, tracks: tracks, speedTests: tests, shape: shape, statement: statement, provenance: provenance,
      scratch: scratch ?? FileManager.default.temporaryDirectory.path, map: map, complain: complain, write: write)
    try beside?(provenance())
    var count = chosen.reading.count
    if count.written + count.ofOtherState == 0, !sessions.isEmpty || filter != FenceFilter() {
      count.filteredOut = try chosen.stored.count()
    }
    (count.speedTests, count.speedTestsOfOtherState) = (tests.count, speedTests?.ofOtherState ?? 0)
    return count
  }
}

/// The ended fences of a selection. A format can read them several times; the counts are those of the last reading.
private struct ChosenFences: FenceRecords {
  final class Reading {
    var count = Exporting.Count()
    /// The sessions of the fences that were written, and the number of these fences, in the order of the store.
    var sessions: [Int64: (session: StoredSession, fences: Int)] = [:]
    /// Whether the last reading came to its end.
    var isComplete = false
  }

  let reader: StoreReader
  let selection: ExportSelection
  let sessions: Set<Int64>
  let filter: FenceFilter
  let progress: WorkProgress
  let reading = Reading()

  private static let fencesPerReport = 256

  var stored: StoredFences { StoredFences(reader, where: filter.conditions(sessions: sessions)) }

  func forEach(_ body: (FenceRecord) throws -> Void) throws { try forEach("fence", body) }

  func before(_ record: FenceRecord) throws -> FenceRecord? {
    guard filter.from != nil, let former = try reader.fence(before: record.id), former.fence.exited != nil else {
      return nil
    }
    var ofAnyTime = filter
    ofAnyTime.from = nil
    let isChosen =
      (sessions.isEmpty || sessions.contains(former.session.id)) && ofAnyTime.selects(FenceRecord(former))
      && selection.selects(former)
    return isChosen ? FenceRecord(former) : nil
  }

  /// - Parameter noun: What progress counts.
  func forEach(_ noun: String, _ body: (FenceRecord) throws -> Void) throws {
    var read = 0
    (reading.count, reading.sessions, reading.isComplete) = (Exporting.Count(), [:], false)
    let fences = stored
    try fences.forEach { stored in
      read += 1
      if read % Self.fencesPerReport == 0 { progress.show(read, of: noun) { try? fences.countToRead() } }
      let record = FenceRecord(stored)
      guard filter.selects(record) else { return }
      guard stored.fence.exited != nil else {
        reading.count.open += 1
        return
      }
      guard selection.selects(stored) else {
        reading.count.ofOtherState += 1
        return
      }
      reading.count.written += 1
      reading.sessions[stored.session.id, default: (stored.session, 0)].fences += 1
      try body(record)
    }
    progress.show(read, of: noun) { try? fences.countToRead() }
    reading.isComplete = true
  }

  /// The drives of the fences that the last reading had, with their logs.
  func drives() throws -> [DriveProvenance] {
    DriveProvenance.all(of: reading.sessions, logs: try reader.driveLogs()) { index, count in
      progress.show(index, of: "drive log") { count }
    }
  }
}
