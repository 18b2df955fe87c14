import Foundation
import OrderedJSON
import Store

/// A format of exported fences. The raw values are those of `export --format`.
public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
  /// RFC 7946, one feature a fence.
  case geojson
  /// RFC 8142, the features of `geojson` as a sequence of JSON texts.
  case geojsonseq
  /// One fence a line.
  case jsonl
  /// RFC 4180, one fence a line.
  case csv
  /// GPX 1.1, with the tracks.
  case gpx
  /// KML 2.2, with the tracks.
  case kml
  /// GeoPackage 1.3, with the tracks.
  case gpkg
  /// A page with a map of the fences, the tracks and the speed tests that needs no network.
  case html

  /// The endings of the names of its files, the usual one first.
  public var endings: [String] {
    switch self {
    case .geojson: ["geojson", "json"]
    case .geojsonseq: ["geojsonl", "geojsons", "geojsonseq"]
    case .jsonl: ["jsonl", "ndjson"]
    case .html: ["html", "htm"]
    case .csv, .gpx, .kml, .gpkg: [rawValue]
    }
  }

  /// The format of files whose names end so; `nil` for an unknown ending.
  public init?(ending: String) {
    guard let format = Self.allCases.first(where: { $0.endings.contains(ending) }) else { return nil }
    self = format
  }

  /// Whether it can write replayed fences too, which have no wall times and no session in the store.
  public var hasReplays: Bool { ![.csv, .gpx, .kml, .gpkg].contains(self) }

  /// Whether it can draw a fence as its centre or as its circle.
  public var hasShapes: Bool { [.geojson, .geojsonseq, .kml].contains(self) }

  /// Whether it has a place for the provenance. Others have it in a file of its own: a line of it would be a record to their readers.
  public var hasProvenance: Bool { ![.csv, .jsonl, .geojsonseq].contains(self) }

  /// Whether it writes speed tests beside the fences. In all other formats they are files of their own (``ofSpeedTests``).
  public var hasSpeedTests: Bool { self == .html }

  /// The formats of `export --speed-tests`.
  public static let ofSpeedTests = allCases.filter { !$0.hasSpeedTests }

  /// Whether a speed test without a place is left out of it.
  public var needsPlaces: Bool { [.gpx, .kml, .gpkg].contains(self) }

  /// Writes `records` through `write`, piece by piece, in memory that does not grow with their number.
  /// - Parameters:
  ///   - tracks: The tracks, for formats that have them.
  ///   - speedTests: The speed tests, for formats that have them (``hasSpeedTests``).
  ///   - shape: For formats with a choice (``hasShapes``).
  ///   - statement: What the export has, for the format that says it (``gpkg``).
  ///   - provenance: What it rests on, for formats with a place for it (``hasProvenance``).
  ///   - scratch: A folder for a file while it is made (``gpkg``).
  ///   - map: What the page is made of (``html``).
  ///   - complain: Receives a line about a base map that the page cannot have whole (``html``).
  /// - Throws: ``GeoPackageError``, ``LeafletError``, ``BasemapError``, and errors of `write`, of the records and of the tracks.
  public func export(
    _ records: some FenceRecords, tracks: some DriveTracks = [TrackSegment](), speedTests: [StoredSpeedTest] = [],
    shape: FenceShape = .point, statement: ExportStatement? = nil, provenance: ProvenanceSource? = nil,
    scratch: String = FileManager.default.temporaryDirectory.path, map: MapOptions = MapOptions(),
    complain: @escaping (String) -> Void = { _ in }, write: ([UInt8]) throws -> Void
  ) throws {
    let records = JoinedRecords(records: records)
    switch self {
    case .geojson, .geojsonseq:
      let collection = GeoJSON(properties: ColumnList.properties, shape: shape, hasBox: true)
      if self == .geojsonseq { return try collection.exportSequence(write: write, forEach: records.forEach) }
      try collection.export(provenance: provenance, write: write, forEach: records.forEach)
    case .jsonl: try JSONLines.export(ColumnList.line, write: write, forEach: records.forEach)
    case .csv: try CSV.export(ColumnList.storedTable, write: write, forEach: records.forEach)
    case .gpx:
      try GPX.export(GPX.fields, tracks: tracks, provenance: provenance, write: write, forEach: records.forEach)
    case .kml:
      try KML.export(
        "Coverage", ColumnList.storedFields, tracks: tracks, shape: shape, provenance: provenance, write: write,
        folder: \.folder, forEach: records.forEach)
    case .gpkg:
      try GeoPackage.export(
        records, tracks: tracks, statement, provenance: provenance, scratch: scratch, write: write)
    case .html:
      try MapPage(
        records: records, tracks: tracks, speedTests: speedTests, options: map, provenance: provenance,
        complain: complain
      ).write(write)
    }
  }

  /// Writes speed tests through `write`, in their order, in a format of ``ofSpeedTests``; others write nothing. JSON Lines have the curves of
  /// the connections, the pings and the positions.
  /// - Throws: ``GeoPackageError``, and errors of `write`.
  public func export(
    speedTests tests: [StoredSpeedTest], provenance: ProvenanceSource? = nil,
    scratch: String = FileManager.default.temporaryDirectory.path, write: ([UInt8]) throws -> Void
  ) throws {
    switch self {
    case .geojson, .geojsonseq:
      let collection = GeoJSON(properties: SpeedTestColumns.properties, hasBox: false)
      if self == .geojsonseq { return try collection.exportSequence(write: write, forEach: tests.forEach) }
      try collection.export(provenance: provenance, write: write, forEach: tests.forEach)
    case .jsonl: try JSONLines.export(SpeedTestColumns.all, write: write, forEach: tests.forEach)
    case .csv: try CSV.export(SpeedTestColumns.table, write: write, forEach: tests.forEach)
    case .gpx:
      try GPX.export(
        SpeedTestColumns.fields, tracks: [TrackSegment](), provenance: provenance, write: write, forEach: tests.forEach)
    case .kml:
      let folder: KML.Folder = (nil, "Speed tests", nil)
      try KML.export(
        folder.name, SpeedTestColumns.fields, first: folder, tracks: [TrackSegment](), provenance: provenance,
        write: write, folder: { _ in folder }, forEach: tests.forEach)
    case .gpkg: try GeoPackage.export(tests, provenance, scratch: scratch, write: write)
    case .html: break
    }
  }
}
