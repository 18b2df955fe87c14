/// How fences leave the program.
public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
  /// RFC 7946, one point a fence.
  case geojson
  /// One fence a line.
  case jsonl
  /// A page that shows the fences on a map, without any network.
  case html

  /// Writes `records` through `write`, piece by piece.
  /// - Throws: What `write` and the sequence throw.
  public func export(_ records: some Sequence<FenceRecord>, write: (String) throws -> Void) rethrows {
    switch self {
    case .geojson: try GeoJSON.export(records, write: write)
    case .jsonl: try records.forEach { try write($0.line + "\n") }
    case .html: try write(MapPage(Array(records)).html)
    }
  }
}
