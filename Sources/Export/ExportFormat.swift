import OrderedJSON

/// A format of exported fences. The raw values are those of `export --format`.
public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
  /// RFC 7946, one point a fence.
  case geojson
  /// RFC 8142, the features of `geojson` as a sequence of JSON texts.
  case geojsonseq
  /// One fence a line.
  case jsonl
  /// A page with a map of the fences that needs no network.
  case html

  /// Writes `records` through `write`, piece by piece, in constant memory.
  /// - Throws: Errors of `write` and of the records.
  public func export(_ records: some FenceRecords, write: ([UInt8]) throws -> Void) throws {
    switch self {
    case .geojson: try GeoJSON.export(records, write: write)
    case .geojsonseq: try GeoJSON.exportSequence(records, write: write)
    case .jsonl:
      var text = JSONWriter()
      try records.forEach { record in
        record.writeLine(to: &text)
        try text.flush(to: write)
      }
      try text.flush(to: write, isLast: true)
    case .html: try MapPage(records).write { try write(Array($0.utf8)) }
    }
  }
}
