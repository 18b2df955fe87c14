import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

struct ExportTests {
  private let session = Session(number: 0, testUUID: "T1", started: .start, anchor: .seconds(16))

  private func record(_ fence: Fence, isReplay: Bool = false) -> FenceRecord {
    FenceRecord(
      fence: fence, session: session, origin: isReplay ? .replay : .store(driveStarted: .sampleStart, session: 3))
  }

  private func line(_ record: FenceRecord) throws -> String { String(try export(.jsonl, [record]).dropLast()) }

  private func export(_ format: ExportFormat, _ records: [FenceRecord]) throws -> String {
    var text: [UInt8] = []
    try format.export(records) { text += $0 }
    return String(decoding: text, as: UTF8.self)
  }

  @Test("when a drive is replayed, then the line of a fence is that of the contract")
  func replayLine() throws {
    let fence = Fence.sample(
      entered: 0, lasted: 12.5, fix: Fix(coordinate: Coordinate(latitude: 48.2082, longitude: 16.3738)), pings: 125,
      answered: 124, rttSumNanoseconds: 124 * 31_670_000)
    #expect(
      try line(record(fence, isReplay: true)) == """
        {"entered":0.0,"exited":12.5,"latitude":48.2082,"longitude":16.3738,"radius_m":20.0,"pings":125,"pings_ok":124,\
        "avg_ping_ms":31.67,"technology":"4G/LTE","technology_id":13,"test_uuid":"T1","offset_ms":-16000,\
        "duration_ms":12500,"submittable":true,"pings_lost":1,"pings_late":0,"pings_unsent":0,"pings_duplicate":0}
        """)
  }

  @Test("when a fence has more ping figures than count and mean, then they follow the contract's keys")
  func figures() throws {
    var figures = PingFigures()
    (figures.late, figures.duplicates) = (2, 1)
    figures.roundTrip = .init(minimum: 9_000_000, median: 10_500_000, percentile95: 30_000_000, maximum: 31_000_001)
    (figures.meanVariation, figures.kernelMean) = (1_250_000, 12_000_000)
    let fence = Fence.sample(pings: 22, answered: 20, figures: figures)
    #expect(
      try line(record(fence)).hasSuffix(
        """
        "pings_lost":2,"pings_late":2,"pings_unsent":0,"pings_duplicate":1,"min_ping_ms":9.0,"p50_ping_ms":10.5,"p95_ping_ms":30.0,\
        "max_ping_ms":31.0,"ipdv_ms":1.25,"avg_ping_kernel_ms":12.0}
        """))
  }

  @Test("when fewer than 20 pings were answered, then there is no 95th percentile: it would be the longest")
  func fewPings() throws {
    var figures = PingFigures()
    figures.roundTrip = .init(minimum: 9_000_000, median: 10_500_000, percentile95: 31_000_000, maximum: 31_000_000)
    #expect(try !line(record(.sample(pings: 30, answered: 19, figures: figures))).contains("p95_ping_ms"))
    #expect(try line(record(.sample(pings: 20, answered: 20, figures: figures))).contains("p95_ping_ms"))
  }

  @Test("when fences follow each other within four radii, on each link, then each has the distance from the one before")
  func distances() throws {
    func record(_ number: Int, _ latitude: Double, link: String = "A", session: Int64 = 3) -> FenceRecord {
      FenceRecord(
        fence: .sample(number: number, latitude: latitude, radius: 28), session: Session(number: 0, started: .start),
        origin: .store(driveStarted: .sampleStart, session: session), link: link)
    }
    var text: [UInt8] = []
    try ExportFormat.jsonl.export([
      record(0, 48), record(0, 48, link: "B"), record(1, 48.001), record(1, 48.0005, link: "B"),
      record(2, 48.0025, session: 4), record(3, 48.003, session: 5), record(5, 48.003),
    ]) { text += $0 }
    let distances = String(decoding: text, as: UTF8.self).split(separator: "\n").map { line in
      line.firstMatch(of: /"distance_m":([0-9.]+)/).map { Double($0.1) ?? -1 }
    }
    #expect(distances == [nil, nil, 111.19, 55.6, nil, 55.6, nil])
  }

  @Test("when stored fences are exported, then the line has its number, wall times and the session")
  func storedLine() throws {
    let line = try line(record(.sample(entered: 10.123_999, lasted: 4)))
    #expect(
      line.hasPrefix(
        """
        {"id":0,"session":3,"drive":2,"quarantined":false,"entered_at":"2026-11-20T10:00:10.123Z","exited_at":"2026-11-20T10:00:14.123Z",
        """.dropLast()))
  }

  @Test("when there are fences, then the GeoJSON is a collection of points, longitude first, seven decimals")
  func geoJSON() throws {
    let text = try export(
      .geojson, [record(.sample(latitude: 48.208_201_239_9, longitude: -16.373_812_349)), record(.sample(number: 1))])
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(object["type"] as? String == "FeatureCollection")
    let features = try #require(object["features"] as? [[String: Any]])
    #expect(features.count == 2)
    #expect(text.contains("\"coordinates\":[-16.3738123,48.2082012]"))
    let properties = try #require(features[0]["properties"] as? [String: Any])
    #expect(properties["test_uuid"] as? String == "T1")
    #expect(properties["latitude"] == nil)
  }

  @Test("when there is no fence, then the GeoJSON is an empty collection")
  func emptyGeoJSON() throws {
    let object = try JSONSerialization.jsonObject(with: Data(try export(.geojson, []).utf8)) as? [String: Any]
    #expect((object?["features"] as? [Any])?.isEmpty == true)
  }

  @Test(
    "when GDAL opens the GeoJSON, then it finds the same count and bounding box",
    .enabled(if: Surroundings.program("ogrinfo") != nil, "gdal-bin is not installed"))
  func gdal() async throws {
    let folder = try TemporaryFolder()
    let records = (0..<25).map { (number: Int) -> FenceRecord in
      let step = Double(number) / 1000
      return record(.sample(number: number, latitude: 48 + step, longitude: 16 - 2 * step))
    }
    let file = try folder.write(try export(.geojson, records), to: "drive.geojson")
    let ogrinfo = try RunningProgram(try #require(Surroundings.program("ogrinfo")), ["-ro", "-so", "-al", file])
    #expect(try await ogrinfo.exitStatus() == 0)
    #expect(ogrinfo.standardOutput.contains("Feature Count: 25"))
    #expect(ogrinfo.standardOutput.contains("Extent: (15.952000, 48.000000) - (16.000000, 48.024000)"))
    #expect(ogrinfo.standardOutput.contains("Geometry: Point"))
  }

  @Test("when a figure has more digits than its precision, then it is rounded")
  func digits() throws {
    let fix = Fix(
      coordinate: Coordinate(latitude: 48.208_201_239_9, longitude: 16.373_812_349), accuracy: 2.469_135_802_469_135_8,
      altitude: 171.324_999, course: 87.123, speed: 13.412_345)
    let line = try line(
      record(
        .sample(
          latitude: 48.208_201_239_9, longitude: 16.373_812_349, fix: fix, radius: 14.938_271_604_938_27, pings: 3,
          answered: 3, rttSumNanoseconds: 3 * 31_670_600), isReplay: true))
    for figure in [
      "\"accuracy_m\":2.47,", "\"altitude_m\":171.32,", "\"course_deg\":87.1,", "\"speed_mps\":13.41,",
      "\"radius_m\":14.94,", "\"latitude\":48.2082012,", "\"longitude\":16.3738123,", "\"avg_ping_ms\":31.671,",
    ] {
      #expect(line.contains(figure), "\(line)")
    }
  }

  @Test("when there are fences, then each feature has an id, and the collection a bounding box")
  func idsAndBox() throws {
    let records = [
      record(.sample(latitude: 48.2, longitude: 16.4)), record(.sample(number: 7, latitude: 48.3, longitude: 16.3)),
    ]
    let object = try JSONSerialization.jsonObject(with: Data(try export(.geojson, records).utf8)) as? [String: Any]
    #expect((object?["features"] as? [[String: Any]])?.compactMap { $0["id"] as? Int } == [0, 7])
    #expect(object?["bbox"] as? [Double] == [16.3, 48.2, 16.4, 48.3])
    #expect(try !export(.geojson, []).contains("bbox"))
  }
}
