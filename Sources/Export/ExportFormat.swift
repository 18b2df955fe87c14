import OrderedJSON

/// How fences leave the program.
public enum ExportFormat: String, Hashable, Sendable, CaseIterable {
  /// RFC 7946, one point a fence.
  case geojson
  /// One fence a line.
  case jsonl
  /// A page that shows the fences on a map, without any network.
  case html

  /// Writes `records` through `write`, piece by piece, in constant memory.
  /// - Throws: What `write` and the records throw.
  public func export(_ records: some FenceRecords, write: ([UInt8]) throws -> Void) throws {
    switch self {
    case .geojson: try GeoJSON.export(records, write: write)
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

extension JSONWriter {
  /// Hands the text so far to `write` when it is long enough for a call, and at the end.
  mutating func flush(to write: ([UInt8]) throws -> Void, isLast: Bool = false) throws {
    guard bytes.count >= 1 << 16 || isLast else { return }
    try write(bytes)
    removeAll()
  }
}

/// Fences in their order: from memory, or read from a store each time anew. New ones may have come to the end since the last time.
public protocol FenceRecords {
  /// - Throws: What `body` and the store throw.
  func forEach(_ body: (FenceRecord) throws -> Void) throws
}

extension Array: FenceRecords where Element == FenceRecord {}
