import Coverage
import Export
import Foundation
import OrderedJSON
import Settings
import TestSupport
import Testing

@testable import Store
@testable import coverage_probe

/// The provenance of `export`: which drives and logs it names, and the file beside the export (docs/export.md, "Provenance").
struct ExportProvenanceTests {
  private let folder: TemporaryFolder
  private let configuration: ProbeConfiguration

  init() throws {
    folder = try TemporaryFolder()
    configuration = .sample(in: folder)
  }

  private static let header =
    #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","pings":{"interval":0.5,"timeout":2}}"# + "\n"

  /// Three drives with two fences each: one with a log, one whose log is gone, one without a log.
  private func fill() throws {
    let store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: "a test")
    let logs = ["a.jsonl", "b.jsonl", nil].map { $0.map { configuration.stateDirectory + "/drives/" + $0 } }
    for (number, log) in logs.enumerated() {
      var recorder = try DriveRecorder(
        store, started: .sampleStart.later(by: .seconds(3600 * number)), log: log, link: "Wien-Süd")
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
        fences: (0..<2).map { .sample(number: $0, entered: Double($0) * 10, lasted: 4) }, seen: .seconds(60))
      try recorder.end(at: .seconds(60), reason: .user)
    }
    try Self.header.write(toFile: configuration.stateDirectory + "/drives/a.jsonl", atomically: true, encoding: .utf8)
  }

  private func object(_ json: some Sequence<UInt8>) throws -> NSDictionary {
    try #require(try JSONSerialization.jsonObject(with: Data(json)) as? NSDictionary)
  }

  private func drives(_ format: ExportFormat, sessions: Set<Int64> = []) throws -> [NSDictionary] {
    var provenance: ExportProvenance?
    _ = try Exporting(configuration: configuration, selection: .all, sessions: sessions).run(
      format: format, scratch: folder.path, beside: { provenance = $0 }
    ) { _ in }
    let json = try #require(provenance).json.text
    return try #require(try object(Array(json.utf8))["drives"] as? [NSDictionary])
  }

  @Test(
    "when fences are exported, then every format names the same drives, with log, digest and the settings of the recording",
    arguments: [ExportFormat.geojson, .geojsonseq, .jsonl, .csv, .gpx, .kml, .gpkg])
  func drives(format: ExportFormat) throws {
    try fill()
    let drives = try drives(format)
    #expect(drives.map { $0["drive"] as? Int } == [1, 2, 3] && drives.map { $0["fences"] as? Int } == [2, 2, 2])
    #expect(drives.map { $0["link"] as? String } == ["Wien-Süd", "Wien-Süd", "Wien-Süd"])
    let digest = try FileDigest(path: configuration.stateDirectory + "/drives/a.jsonl").sha256
    #expect(
      drives.map { $0["log"] as? NSDictionary } == [
        ["name": "a.jsonl", "bytes": Self.header.utf8.count, "sha256": digest],
        ["name": "b.jsonl", "missing": "the log is no longer there"], ["missing": "the drive has no log"],
      ])
    #expect(drives[0]["settings"] as? NSDictionary == ["pings": ["interval": 0.5, "timeout": 2.0]])
  }

  @Test("when only some sessions are exported, then only their drives are named")
  func some() throws {
    try fill()
    #expect(try drives(.csv, sessions: [2]).map { $0["drive"] as? Int } == [2])
    #expect(try drives(.kml, sessions: [3, 1]).map { $0["sessions"] as? [Int] } == [[1], [3]])
  }

  @Test("when a format has no place for it, then the file beside the export names the export and its digest")
  func beside() throws {
    try fill()
    let path = folder.file("day.csv")
    let file = try ExportFile(path, provenance: nil, isBeside: true)
    _ = try Exporting(configuration: configuration, selection: .all).run(
      format: .csv, beside: file.beside, write: file.write)
    #expect(!FileManager.default.fileExists(atPath: path), "the export gets its name last")
    try file.finish()
    let read = try object(Data(contentsOf: URL(fileURLWithPath: path + ".provenance.json")))
    let digest = try FileDigest(path: path)
    #expect(read["file"] as? NSDictionary == ["name": "day.csv", "bytes": digest.bytes, "sha256": digest.sha256])
    #expect((read["drives"] as? [Any])?.count == 3)
    #expect((read["configuration_at_export"] as? NSDictionary)?["pings.interval"] as? Double == 0.1)
  }

  @Test("when the file beside the export cannot be written, then there is no export either")
  func unwritable() throws {
    let path = folder.file("day.csv")
    try FileManager.default.createDirectory(atPath: path + ".provenance.json", withIntermediateDirectories: false)
    let error = #expect(throws: OutputError.self) { try ExportFile(path, provenance: nil, isBeside: true) }
    #expect(error?.path == path + ".provenance.json")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(
    "when the format has a place, or the export is no regular file, then nothing is beside it unless a file is named")
  func named() throws {
    #expect(try ExportFile(folder.file("a.gpx"), provenance: nil, isBeside: false).beside == nil)
    #expect(try ExportFile("/dev/null", provenance: nil, isBeside: true).beside == nil)
    #expect(try ExportFile(nil, provenance: nil, isBeside: true).beside == nil)
    #expect(try ExportFile("/dev/null", provenance: folder.file("p.json"), isBeside: true).beside != nil)
  }

  @Test("when speed tests are exported, then the provenance says so and names no drive log")
  func speedTests() throws {
    try fill()
    var provenance: ExportProvenance?
    try SpeedTestExporting(configuration: configuration, selection: .all, filter: FenceFilter()).run(
      format: .csv, beside: { provenance = $0 }
    ) { _ in }
    let json = try #require(provenance).json.text
    let read = try object(Array(json.utf8))
    #expect(read["content"] as? String == "speed tests" && read["drives"] == nil)
    #expect(read["store_id"] as? String != nil)
  }
}
