import Coverage
import Driving
import Export
import Foundation
import Settings
import Store

/// The ended speed tests that meet the conditions of an export or a report.
struct ChosenSpeedTests {
  /// The tests, oldest first.
  let tests: [StoredSpeedTest]
  /// The tests of the wanted sessions, times, places and technologies that have another state.
  let ofOtherState: Int

  /// Reads the tests, also while another process writes to the store.
  /// - Parameter sessions: The ids of the only sessions; empty for all. A test belongs to the session of its drive during which
  ///   it began.
  init(
    _ reader: StoreReader, selection: ExportSelection, sessions: Set<Int64> = [], filter: FenceFilter
  ) throws {
    var (tests, others) = ([StoredSpeedTest](), 0)
    try Self.forEachEnded(reader, sessions: sessions, filter: filter) { test in
      if selection.selects(test) { tests.append(test) } else { others += 1 }
    }
    (self.tests, ofOtherState) = (tests, others)
  }

  /// Calls `body` with each test, without having all of them in memory.
  static func forEach(
    _ reader: StoreReader, selection: ExportSelection, sessions: Set<Int64>, filter: FenceFilter,
    _ body: (StoredSpeedTest) -> Void
  ) throws {
    try forEachEnded(reader, sessions: sessions, filter: filter) { if selection.selects($0) { body($0) } }
  }

  /// Calls `body` with each ended test that meets all conditions but the state.
  private static func forEachEnded(
    _ reader: StoreReader, sessions: Set<Int64>, filter: FenceFilter, _ body: (StoredSpeedTest) -> Void
  ) throws {
    let wanted = try sessions.sorted().compactMap { try reader.session(id: $0) }
    try StoredSpeedTests(reader).forEach { test in
      guard test.ended != nil, filter.selects(test), sessions.isEmpty || wanted.contains(where: { $0.includes(test) })
      else { return }
      body(test)
    }
  }
}

extension StoredSession {
  /// Whether the test began during the session.
  fileprivate func includes(_ test: StoredSpeedTest) -> Bool {
    guard !isDamaged, test.drive == drive else { return false }
    let end = session.finalized.map { driveStarted + $0 }
    return driveStarted + session.started <= test.started && end.map { test.started <= $0 } ?? true
  }
}

/// `export --speed-tests`: writes speed tests as files.
struct SpeedTestExporting: Sendable {
  private let chosen: ChosenSpeedTests
  private let provenance: ExportProvenance

  /// Reads the tests that meet all conditions, also while another process writes to the store.
  /// - Throws: `StoreError`, GRDB's `DatabaseError`
  init(configuration: ProbeConfiguration, selection: ExportSelection, filter: FenceFilter) throws {
    let reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    chosen = try ChosenSpeedTests(reader, selection: selection, filter: filter)
    provenance = ExportProvenance(
      content: "speed tests", exported: .current, store: try reader.identity(), state: selection.rawValue,
      sessions: [], filter: filter, configuration: configuration.provenance, drives: [])
  }

  var count: Int { chosen.tests.count }

  /// Of these, those without a place, which some formats leave out (`ExportFormat.needsPlaces`).
  var withoutPlace: Int { chosen.tests.count { $0.place == nil } }

  /// The tests of the wanted times, places and technologies that have another state.
  var ofOtherState: Int { chosen.ofOtherState }

  /// Writes the tests, oldest first.
  /// - Parameter beside: Receives the provenance after the last piece, for a file of its own.
  /// - Throws: `GeoPackageError`, and errors of `write`.
  func run(
    format: ExportFormat, scratch: String? = nil, beside: ((ExportProvenance) throws -> Void)? = nil,
    write: ([UInt8]) throws -> Void
  ) throws {
    try format.export(
      speedTests: chosen.tests, provenance: { provenance },
      scratch: scratch ?? FileManager.default.temporaryDirectory.path, write: write)
    try beside?(provenance)
  }
}
