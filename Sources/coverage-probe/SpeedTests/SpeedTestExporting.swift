import Coverage
import Export
import Settings
import Store

/// `export --speed-tests`: writes speed tests as files.
struct SpeedTestExporting: Sendable {
  private let chosen: ChosenSpeedTests

  /// Reads the tests that meet all conditions, also while another process writes to the store.
  /// - Throws: `StoreError`, GRDB's `DatabaseError`
  init(configuration: ProbeConfiguration, selection: ExportSelection, filter: FenceFilter) throws {
    let reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    chosen = try ChosenSpeedTests(reader, selection: selection, filter: filter)
  }

  /// The number of tests.
  var count: Int { chosen.tests.count }

  /// Of these, those without a place, which some formats leave out (`SpeedTestFormat.needsPlaces`).
  var withoutPlace: Int { chosen.tests.count { $0.place == nil } }

  /// The tests of the wanted times, places and technologies that have another state.
  var ofOtherState: Int { chosen.ofOtherState }

  /// Writes the tests, oldest first.
  /// - Parameters:
  ///   - scratch: A folder for a file while it is made; `nil`: that for temporary files.
  ///   - write: Receives the output in pieces; errors that it throws end the export.
  /// - Throws: `GeoPackageError`, and errors of `write`.
  func run(format: SpeedTestFormat, scratch: String? = nil, write: ([UInt8]) throws -> Void) throws {
    if let scratch {
      try format.export(chosen.tests, scratch: scratch, write: write)
    } else {
      try format.export(chosen.tests, write: write)
    }
  }
}
