import Coverage
import DriveStore
import Export
import Settings

/// `export --speed-tests`: writes speed tests as files.
public struct SpeedTestExporting: Sendable {
  private let tests: [StoredSpeedTest]
  /// The tests of the wanted times, places and technologies that have another state.
  public let ofOtherState: Int

  /// Reads the tests that meet all conditions, also while another process writes to the store.
  /// - Throws: `StoreError`, GRDB's `DatabaseError`
  public init(configuration: ProbeConfiguration, selection: Exporting.Selection, filter: FenceFilter) throws {
    let reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    let ended = try reader.speedTests().filter { $0.ended != nil && filter.selects($0) }
    tests = ended.filter { test in
      switch selection {
      case .submitted: test.state == .submitted
      case .pending: test.state == .waiting || test.state == .sending
      case .all: true
      }
    }
    ofOtherState = ended.count - tests.count
  }

  /// The number of tests.
  public var count: Int { tests.count }

  /// Writes the tests, oldest first.
  /// - Throws: Errors of `write`.
  public func run(format: SpeedTestFormat, write: ([UInt8]) throws -> Void) throws {
    try format.export(tests, write: write)
  }
}
