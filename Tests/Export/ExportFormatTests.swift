import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// Properties of every format.
struct ExportFormatTests {
  @Test("when a file has the ending of a format, then the format is known by it, and no ending means two formats")
  func endings() {
    for format in ExportFormat.allCases {
      #expect(!format.endings.isEmpty && format.endings.allSatisfy { ExportFormat(ending: $0) == format })
    }
    let all = ExportFormat.allCases.flatMap(\.endings)
    #expect(Set(all).count == all.count && ExportFormat(ending: "pdf") == nil)
  }

  private struct DiskFull: Error {}

  /// Counts the fences that are read; reading can fail.
  private final class Source: FenceRecords {
    let count: Int
    let isBroken: Bool
    private(set) var read = 0

    init(count: Int, isBroken: Bool = false) { (self.count, self.isBroken) = (count, isBroken) }

    func forEach(_ body: (FenceRecord) throws -> Void) throws {
      for number in 0..<count {
        read += 1
        try body(.whole(id: Int64(number + 1), number: number, latitude: 40 + Double(number) / 1e4))
      }
      if isBroken { throw DiskFull() }
    }
  }

  private static let withLeaflet = FileManager.default.fileExists(atPath: MapOptions().leaflet)

  /// The map page needs Leaflet to be installed.
  private static let formats = ExportFormat.allCases.filter { $0 != .html || withLeaflet }

  @Test("when there are many fences, then they are written in pieces of a bounded size", arguments: formats)
  func pieces(format: ExportFormat) throws {
    let source = Source(count: 500)
    var (largest, pieces) = (0, 0)
    try format.export(source, tracks: [TrackSegment](), shape: .point) { piece in
      largest = max(largest, piece.count)
      pieces += 1
    }
    #expect(source.read >= 500 && pieces > 1)
    #expect(largest < 2 << 20, "\(format): \(largest) bytes in one piece")
  }

  @Test("when the output cannot be written, then its error ends the export at once", arguments: formats)
  func fullDisk(format: ExportFormat) throws {
    // A GeoPackage is written after all fences are read.
    let source = Source(count: format == .gpkg ? 300 : 3000)
    var writes = 0
    #expect(throws: DiskFull.self) {
      try format.export(source, tracks: [TrackSegment](), shape: .point) { _ in
        writes += 1
        throw DiskFull()
      }
    }
    #expect(writes == 1, "\(format): nothing is written after the error")
    if format != .gpkg { #expect(source.read < 3000, "\(format): reading stops too") }
  }

  @Test("when reading from the store fails, then the export ends with that error", arguments: formats)
  func brokenStore(format: ExportFormat) {
    #expect(throws: DiskFull.self) {
      try format.export(Source(count: 10, isBroken: true), tracks: [TrackSegment](), shape: .point) { _ in }
    }
  }

  @Test(
    "when an export is repeated, then it is identical byte by byte, except for the nonce of the page's scripts",
    arguments: formats)
  func repeated(format: ExportFormat) throws {
    let records = (1...30).map { FenceRecord.whole(id: $0, number: Int($0)) }
    func text() throws -> String {
      String(decoding: try format.bytes(records, tracks: [.sample()]), as: UTF8.self)
        .replacing(/nonce[-=]"?[a-z0-9]+/, with: "nonce")
    }
    // A GeoPackage contains its creation time.
    if format != .gpkg { #expect(try text() == text()) }
  }

  @Test("when formats are listed, then each has a unique name, and shapes only if the format has geometries")
  func names() {
    #expect(Set(ExportFormat.allCases.map(\.rawValue)).count == ExportFormat.allCases.count)
    #expect(ExportFormat.allCases.filter(\.hasShapes) == [.geojson, .geojsonseq, .kml])
  }

  // MARK: Titles of fences

  @Test(
    "when a fence has a title, then its delay is rounded to a tenth, and its loss to a tenth of a percent",
    arguments: [
      (40, 39, 31_670_000, "4G/LTE 31.7 ms", "mean 31.7 ms, 1 of 40 pings lost (2.5 %)"),
      (1, 1, 49_999, "4G/LTE 0.0 ms", "mean 0.0 ms, 0 of 1 ping lost (0.0 %)"),
      (3, 2, 999_950_000, "4G/LTE 1000.0 ms", "mean 1000.0 ms, 1 of 3 pings lost (33.3 %)"),
      (10, 0, 0, "4G/LTE no answer", "no answer, 10 of 10 pings lost (100.0 %)"),
      (0, 0, 0, "4G/LTE no pings", "no pings, not measured"),
    ])
  func words(pings: Int, answered: Int, mean: Int64, short: String, long: String) {
    let fence = Fence.sample(pings: pings, answered: answered, rttSumNanoseconds: mean * Int64(answered))
    #expect(FenceTitle.short(fence) == short)
    #expect(FenceTitle.long(fence) == long)
  }

  @Test("when a damaged fence has the largest numbers, then its titles do not overflow")
  func extremes() {
    for answered in [0, 1, Int.max] {
      let fence = Fence.sample(pings: .max, answered: answered, rttSumNanoseconds: .max)
      #expect(!FenceTitle.long(fence).isEmpty && !FenceTitle.short(fence).isEmpty)
    }
    #expect(FenceTitle.short(.sample(technology: nil)).hasPrefix("NONE "))
  }

  @Test(
    "when a circle crosses 180 degrees, then each format with circles splits it into two parts",
    arguments: [
      ExportFormat.geojson, .geojsonseq, .kml,
    ])
  func antimeridian(format: ExportFormat) throws {
    let text = try format.text([.bare(longitude: 179.9999, radius: 50)], shape: .circle)
    #expect(text.contains("MultiPolygon") || text.contains("MultiGeometry"), "\(format)")
    #expect(try !format.text([.bare(radius: 50)], shape: .circle).contains("Multi"), "\(format)")
  }
}
