import Coverage
import Foundation
import Settings
import Store
import TestSupport
import Testing

@testable import Export
@testable import Service
@testable import coverage_probe

/// `export --speed-tests`: which tests of a store a user gets (docs/speedtest.md).
struct SpeedTestExportingTests {
  private let folder: TemporaryFolder
  private let configuration: ProbeConfiguration

  init() throws {
    folder = try TemporaryFolder()
    configuration = .sample(in: folder)
  }

  /// Three tests: sent, waiting without a place, and running.
  private func fill() async throws -> DriveStore {
    let store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test")
    for number in 1...3 {
      let time = WallTime.sampleStart.later(by: .seconds(60 * number))
      var start = SpeedTestOutbox.Start(
        controlServer: "http://host", clientUUID: "C", testUUID: "T\(number)", token: "t", started: time)
      start.place = number == 2 ? nil : Coordinate(latitude: 48.2, longitude: 16.4)
      let id = try await store.speedTests.begin(start)
      guard number < 3 else { continue }
      try await store.speedTests.end(id, .init(.completed, at: time, figures: .sample()))
      if number == 1 { try await store.speedTests.markSubmitted(id, .result, at: time) }
    }
    return store
  }

  private func exporting(_ selection: ExportSelection, _ filter: FenceFilter = FenceFilter()) throws
    -> SpeedTestExporting
  {
    try SpeedTestExporting(configuration: configuration, selection: selection, filter: filter)
  }

  private func lines(_ exporting: SpeedTestExporting) throws -> [String] {
    var bytes: [UInt8] = []
    try exporting.run(format: .jsonl) { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test(
    "when tests are selected by their state, then those are written, the others counted, and a running test is left out"
  )
  func selections() async throws {
    let store = try await fill()
    let submitted = try exporting(.submitted)
    #expect((submitted.count, submitted.withoutPlace, submitted.ofOtherState) == (1, 0, 1))
    #expect(try lines(submitted).allSatisfy { $0.contains(#""test_uuid":"T1""#) })
    let pending = try exporting(.pending)
    #expect((pending.count, pending.withoutPlace, pending.ofOtherState) == (1, 1, 1))
    #expect(try lines(pending).allSatisfy { $0.contains(#""test_uuid":"T2""#) })
    let all = try exporting(.all)
    #expect((all.count, all.withoutPlace, all.ofOtherState) == (2, 1, 0))
    #expect(try lines(all).count == 2)
    let second = try #require(try StoreReader(store).speedTests().first { $0.testUUID == "T2" })
    try await store.speedTests.quarantine(second.id, .result, reason: "no", at: .sampleStart)
    #expect(try exporting(.pending).count == 1, "a refused test can still be sent")
    withExtendedLifetime(store) {}
  }

  @Test("when a time is selected, then tests of other times are neither written nor counted")
  func times() async throws {
    let store = try await fill()
    var filter = FenceFilter()
    filter.from = WallTime.sampleStart.later(by: .seconds(90))
    let found = try exporting(.all, filter)
    #expect((found.count, found.ofOtherState) == (1, 0))
    #expect(try lines(found).allSatisfy { $0.contains(#""test_uuid":"T2""#) })
    withExtendedLifetime(store) {}
  }

  @Test("when the folder for temporary files does not exist, then the error names it, and nothing is written")
  func scratch() async throws {
    let store = try await fill()
    var count = 0
    let error = #expect(throws: GeoPackageError.self) {
      try exporting(.all).run(format: .gpkg, scratch: folder.file("nowhere")) { count += $0.count }
    }
    #expect(error.map { "\($0)".contains(folder.file("nowhere")) } == true)
    #expect(count == 0)
    try exporting(.all).run(format: .gpkg, scratch: folder.path) { count += $0.count }
    #expect(count > 4096)
    withExtendedLifetime(store) {}
  }
}
