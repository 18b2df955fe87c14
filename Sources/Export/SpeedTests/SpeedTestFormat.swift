import Coverage
import Foundation
import OrderedJSON
import Store

/// A format of exported speed tests: one test a feature or a line. The raw values are those of `export --format` with
/// `--speed-tests`.
public enum SpeedTestFormat: String, Hashable, Sendable, CaseIterable {
  /// RFC 7946: a point where the test began; tests without a place have no geometry.
  case geojson
  /// RFC 8142: the features of `geojson` as a sequence of JSON texts.
  case geojsonseq
  /// With the connections' curves, the pings and the positions.
  case jsonl
  /// RFC 4180.
  case csv
  /// GPX 1.1: each test a waypoint.
  case gpx
  /// KML 2.2: a folder with the tests.
  case kml
  /// GeoPackage 1.3: a layer with the tests.
  case gpkg

  /// Whether a test without a place is left out of it.
  public var needsPlaces: Bool { [.gpx, .kml, .gpkg].contains(self) }

  /// Whether it has a place for the provenance. Others have it in a file of its own.
  public var hasProvenance: Bool { ![.csv, .jsonl, .geojsonseq].contains(self) }

  /// Writes `tests` through `write`, in their order. Tests are few and in memory already, so some formats are written in one
  /// piece.
  /// - Parameters:
  ///   - provenance: What the export rests on, for formats with a place for it.
  ///   - scratch: A folder for a file while it is made (``gpkg``).
  /// - Throws: ``GeoPackageError``, and errors of `write`.
  public func export(
    _ tests: [StoredSpeedTest], provenance: ProvenanceSource? = nil,
    scratch: String = FileManager.default.temporaryDirectory.path, write: ([UInt8]) throws -> Void
  ) throws {
    switch self {
    case .geojson: try write(Array(Self.collection(tests, try provenance?()).utf8))
    case .geojsonseq: for test in tests { try write([0x1E] + Array((Self.feature(test).text + "\n").utf8)) }
    case .jsonl: for test in tests { try write(Array((Self.object(SpeedTestColumn.all, of: test).text + "\n").utf8)) }
    case .csv: try write(Self.table(tests))
    case .gpx: try GPX.export(tests, provenance, write: write)
    case .kml: try KML.export(tests, provenance, write: write)
    case .gpkg: try GeoPackage.export(tests, provenance, scratch: scratch, write: write)
    }
  }

  /// The values that the test has, as members in the order of `columns`.
  private static func object(_ columns: [SpeedTestColumn], of test: StoredSpeedTest) -> JSON {
    .object(columns.compactMap { column in column.value(test).map { JSON.Member(column.name, $0) } })
  }

  /// A FeatureCollection, one feature a line.
  private static func collection(_ tests: [StoredSpeedTest], _ provenance: ExportProvenance?) -> String {
    let features = tests.map { "\n" + feature($0).text }.joined(separator: ",")
    let provenance = provenance.map { ",\"provenance\":\($0.json.text)" } ?? ""
    return "{\"type\":\"FeatureCollection\",\"features\":[\(features)\n]\(provenance)}\n"
  }

  /// RFC 7946, 3.2: a feature without a place has the geometry `null`.
  private static func feature(_ test: StoredSpeedTest) -> JSON {
    let geometry = test.place.map { place -> JSON in
      .object([
        JSON.Member("type", "Point"),
        JSON.Member("coordinates", .array([.degrees(place.longitude), .degrees(place.latitude)])),
      ])
    }
    return .object([
      JSON.Member("type", "Feature"), JSON.Member("id", .integer(test.id)),
      JSON.Member("geometry", geometry ?? .null),
      JSON.Member("properties", object(SpeedTestColumn.properties, of: test)),
    ])
  }

  /// RFC 4180, as ``CSV`` writes fences.
  private static func table(_ tests: [StoredSpeedTest]) -> [UInt8] {
    var text = Array((SpeedTestColumn.table.map(\.name).joined(separator: ",") + "\r\n").utf8)
    for test in tests {
      for (index, column) in SpeedTestColumn.table.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        if let value = column.value(test) { CSV.append(value, column.kind, to: &text) }
      }
      text += Array("\r\n".utf8)
    }
    return text
  }
}
