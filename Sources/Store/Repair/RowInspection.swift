import Coverage
import GRDB

/// Looks for damaged rows: beside the writer, in slices, and in a large store only some in each pass. Their values are
/// not used in any case, as every read goes through the views; this finds the rows that nothing reads.
public actor RowInspection {
  /// One read: limits the wait of other reads.
  private let rowsInSlice: Int
  /// One pass: a store of fewer rows is read completely each time.
  private let rowsInPass: Int

  private let store: StoreDatabase
  private var round: InspectionRound?
  /// The result of the last complete round.
  private var found = 0

  init(store: StoreDatabase, rowsInSlice: Int = 1000, rowsInPass: Int = 20_000) {
    (self.store, self.rowsInSlice, self.rowsInPass) = (store, rowsInSlice, rowsInPass)
  }

  /// Reads the next rows, from the end of the last call on.
  ///
  /// Damage in a store that its start has not read completely asks the next start for a comparison with the drive
  /// logs.
  /// - Returns: The number of damaged rows in all tables: those of this round, or of the last complete one if it had
  ///   more.
  /// - Throws: GRDB's `DatabaseError`, ``StoreError``
  public func damagedRows() async throws -> Int {
    var rows = 0
    var next = if let round { round } else { try await begin() }
    if round == nil { try await UnsentCounts.mend(store) }
    while rows < rowsInPass, let part = next.part {
      let slice = try await store.read { [rowsInSlice] in try part.read($0, atMost: rowsInSlice) }
      rows += slice.rows
      next.add(slice)
    }
    if next.damagedMeasurements > 0, !store.isReadAtStart { try RecoveryMark(store.directory).set(.damaged) }
    if next.part == nil {
      (found, round) = (next.damaged, nil)
      return found
    }
    round = next
    return max(found, next.damaged)
  }

  /// Begins anywhere among the fences: a process that makes one pass only would always see the same ones.
  private func begin() async throws -> InspectionRound {
    try await store.read { [rowsInPass] db in
      guard
        let ids = try Row.fetchOne(
          db, sql: "SELECT (SELECT min(id) FROM fence) AS first, (SELECT max(id) FROM fence) AS last"),
        let first = ids["first"] as Int64?, let last = ids["last"] as Int64?
      else { return InspectionRound(fencesFrom: .min) }
      let isSmall = last.saturatingSubtracting(first) < rowsInPass
      return InspectionRound(fencesFrom: isSmall ? .min : .random(in: first...last))
    }
  }
}

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
