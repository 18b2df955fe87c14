import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// The text sequence of RFC 8142.
struct GeoJSONSequenceTests {
  private struct DiskFull: Error {}

  private func records(_ count: Int) -> [FenceRecord] {
    let session = Session(number: 0, testUUID: "T1", started: .start, anchor: .seconds(16))
    return (0..<count).map { number in
      let step = Double(number) / 100_000
      return FenceRecord(
        fence: .sample(number: number, latitude: 48 + step, longitude: 16 - 2 * step), session: session,
        origin: .store(driveStarted: .sampleStart, session: 3))
    }
  }

  private func features(_ text: [UInt8]) throws -> [NSDictionary] {
    try text.split(separator: 0x1E).map { part in
      #expect(part.last == UInt8(ascii: "\n"))
      return try #require(try JSONSerialization.jsonObject(with: Data(part)) as? NSDictionary)
    }
  }

  @Test("when fences are exported as a sequence, then each is a text between a record separator and a line feed")
  func frames() throws {
    var text: [UInt8] = []
    try ExportFormat.geojsonseq.export(records(3)) { text += $0 }
    #expect(text.first == 0x1E)
    #expect(text.filter { $0 == 0x1E }.count == 3)
    #expect(text.filter { $0 == UInt8(ascii: "\n") }.count == 3)
    #expect(try features(text).compactMap { $0["id"] as? Int } == [0, 1, 2])
  }

  @Test("when there are more fences than a piece holds, then the sequence has the features of the collection, in order")
  func sameFeatures() throws {
    let records = records(500)
    var (pieces, collection): ([[UInt8]], [UInt8]) = ([], [])
    try ExportFormat.geojsonseq.export(records) { pieces.append($0) }
    try ExportFormat.geojson.export(records) { collection += $0 }
    #expect(pieces.count > 1)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(collection)) as? [String: Any])
    let expected = try #require(object["features"] as? [NSDictionary])
    #expect(expected.count == 500)
    #expect(try features(pieces.flatMap { $0 }) == expected)
  }

  @Test("when there is no fence, then nothing is written")
  func empty() throws {
    try ExportFormat.geojsonseq.export(records(0)) { _ in Issue.record("an empty sequence has no bytes") }
  }

  @Test("when a piece cannot be written, then the export ends with that error")
  func diskFull() throws {
    let records = records(1)
    #expect(throws: DiskFull.self) { try ExportFormat.geojsonseq.export(records) { _ in throw DiskFull() } }
  }

  @Test(
    "when GDAL opens the sequence, then it finds the same count and extent",
    .enabled(if: Surroundings.program("ogrinfo") != nil, "gdal-bin is not installed"))
  func gdal() async throws {
    let folder = try TemporaryFolder()
    var text: [UInt8] = []
    try ExportFormat.geojsonseq.export(records(25)) { text += $0 }
    let file = try folder.write(String(decoding: text, as: UTF8.self), to: "drive.geojsons")
    let ogrinfo = try RunningProgram(try #require(Surroundings.program("ogrinfo")), ["-ro", "-so", "-al", file])
    #expect(try await ogrinfo.exitStatus() == 0)
    #expect(ogrinfo.standardOutput.contains("using driver `GeoJSONSeq'"))
    #expect(ogrinfo.standardOutput.contains("Feature Count: 25"))
    #expect(ogrinfo.standardOutput.contains("Extent: (15.999520, 48.000000) - (16.000000, 48.000240)"))
  }
}
