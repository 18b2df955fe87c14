import GRDB

/// One look at each row of the store: the parts that are still to be read, and the damage found so far. A pure value.
struct InspectionRound: Hashable, Sendable {
  /// Rows of one table, by their ids.
  struct Part: Hashable, Sendable {
    let table: String
    var ids: ClosedRange<Int64>
  }

  /// The result of reading the first rows of a part.
  struct Slice: Hashable, Sendable {
    let rows: Int
    let damaged: Int
    /// `nil` when the part has no further rows.
    let last: Int64?
  }

  private var parts: [Part]
  /// Damaged rows of all tables.
  private(set) var damaged = 0
  /// Damaged drives, sessions and fences.
  private(set) var damagedMeasurements = 0

  /// - Parameter start: The first fence to read; the ones before it follow at the end.
  init(fencesFrom start: Int64) {
    parts = RowChecksum.tables.map { Part(table: $0.name, ids: ($0.name == "fence" ? start : .min)...(.max)) }
    if start > .min { parts.append(Part(table: "fence", ids: .min...start - 1)) }
  }

  /// The part to read next; `nil` when all rows were read.
  var part: Part? { parts.first }

  mutating func add(_ slice: Slice) {
    guard let part else { return }
    damaged += slice.damaged
    if ["drive", "session", "fence"].contains(part.table) { damagedMeasurements += slice.damaged }
    if let last = slice.last, last < part.ids.upperBound {
      parts[0].ids = last + 1...part.ids.upperBound
    } else {
      parts.removeFirst()
    }
  }
}

extension InspectionRound.Part {
  /// Reads at most `limit` rows.
  func read(_ db: Database, atMost limit: Int) throws -> InspectionRound.Slice {
    let row = try Row.fetchOne(
      db,
      sql: """
        SELECT count(*) AS rows, max(row) AS last, count(*) FILTER (WHERE NOT is_intact) AS damaged FROM (
          SELECT rowid AS row, \(RowChecksum.isIntact(table)) AS is_intact FROM main.\(table)
          WHERE rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?)
        """, arguments: [ids.lowerBound, ids.upperBound, limit])
    guard let row else { return InspectionRound.Slice(rows: 0, damaged: 0, last: nil) }
    let rows: Int = row["rows"]
    return InspectionRound.Slice(rows: rows, damaged: row["damaged"], last: rows == limit ? row["last"] : nil)
  }
}
