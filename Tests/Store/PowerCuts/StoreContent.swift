import GRDB

@testable import Store

/// All rows of a store.
struct StoreContent: Hashable {
  struct Key: Hashable {
    let table: String
    let row: Int64
  }

  let rows: [Key: [DatabaseValue]]
  /// The batches of the fences that have one, by the rows of the fences.
  private let batches: [Int64: Int64]

  static let empty = StoreContent(rows: [:], batches: [:])

  private init(rows: [Key: [DatabaseValue]], batches: [Int64: Int64]) { (self.rows, self.batches) = (rows, batches) }

  init(_ store: DriveStore) throws {
    (rows, batches) = try store.database.unsafeRead { db in
      var rows: [Key: [DatabaseValue]] = [:]
      // The identity is made with the store, before any of its writes.
      for table in RowChecksum.tables where table.name != "identity" {
        let statement = try db.cachedStatement(sql: "SELECT rowid, * FROM \(table.name)")
        let cursor = try Row.fetchCursor(statement)
        while let row = try cursor.next() {
          rows[Key(table: table.name, row: row[0])] = Array(row.databaseValues)
        }
      }
      let pairs = try Row.fetchAll(db, sql: "SELECT rowid, batch_id FROM fence WHERE batch_id IS NOT NULL")
      return (rows, Dictionary(uniqueKeysWithValues: pairs.map { ($0[0] as Int64, $0[1] as Int64) }))
    }
  }

  /// The rows that differ from the content before and after the interrupted transaction, for a later analysis.
  func difference(_ acknowledged: StoreContent, _ underWay: StoreContent) -> String {
    func changed(_ other: StoreContent) -> [String] {
      Set(rows.keys).union(other.rows.keys).filter { rows[$0] != other.rows[$0] }.map { key in
        "\(key.table) \(key.row): \(rows[key] == nil ? "gone" : other.rows[key] == nil ? "new" : "changed")"
      }.sorted()
    }
    return "against before: \(changed(acknowledged)); against after: \(changed(underWay))"
  }

  /// Deleting a session takes two transactions: the first only records the request. After a cut, the next start runs the second.
  func hasBegunToForget(from acknowledged: StoreContent, to underWay: StoreContent) -> Bool {
    let added = rows.keys.filter { acknowledged.rows[$0] == nil }
    guard added.count == 1, let note = added.first, note.table == "forgetting" else { return false }
    let session = Key(table: "session", row: note.row)
    return acknowledged.rows[session] != nil && underWay.rows[session] == nil
      && rows.filter { $0.key != note } == acknowledged.rows
  }
}

extension StoreContent {
  /// Each batch is made in a transaction of its own: some of them can be there, each with all of its fences.
  fileprivate func hasBegunToBatch(from acknowledged: StoreContent, to underWay: StoreContent) -> Bool {
    let made = rows.filter { $0.key.table == "batch" && acknowledged.rows[$0.key] == nil }
    let fences = underWay.batches.filter {
      made[Key(table: "batch", row: $0.value)] != nil && acknowledged.batches[$0.key] == nil
    }
    var expected = acknowledged.rows
    for key in Array(made.keys) + fences.keys.map({ Key(table: "fence", row: $0) }) {
      expected[key] = underWay.rows[key]
    }
    return !made.isEmpty && rows == expected
  }

  /// One transaction deletes old fences, the next one deletes the drives that have none left.
  fileprivate func hasBegunToClean(from acknowledged: StoreContent, to underWay: StoreContent) -> Bool {
    let left = rows.filter { underWay.rows[$0.key] == nil }
    return left.allSatisfy { $0.key.table == "drive" && acknowledged.rows[$0.key] == $0.value }
      && rows.filter { left[$0.key] == nil } == underWay.rows
  }
}

/// Counts of the losses and damages that cuts caused.
struct Judgement: CustomStringConvertible {
  var cuts = 0
  /// Starts that found the file damaged, could not open it, or found rows that do not match their checksum.
  var corrupt = 0
  /// Acknowledged rows that are missing or have older values.
  var lostFences = 0
  var lostBatches = 0
  var lostOthers = 0
  /// Rows that neither the acknowledged state nor the transaction under way has: never written, or deleted and back.
  var unexpected = 0
  /// Transactions that were applied only in part.
  var torn = 0

  var lost: Int { lostFences + lostBatches + lostOthers }
  /// The number of all faults.
  var found: Int { corrupt + lost + unexpected + torn }
  var isGood: Bool { found == 0 }

  /// - Parameters:
  ///   - acknowledged: The content of the store when the last call before the cut returned.
  ///   - underWay: The content that the interrupted call would have left.
  mutating func compare(_ found: StoreContent, acknowledged: StoreContent, underWay: StoreContent) {
    guard found != acknowledged, found != underWay, !found.hasBegunToForget(from: acknowledged, to: underWay),
      !found.hasBegunToClean(from: acknowledged, to: underWay),
      !found.hasBegunToBatch(from: acknowledged, to: underWay)
    else { return }
    var isEachRowGood = true
    for (key, value) in acknowledged.rows {
      let now = found.rows[key]
      guard now != value, now != underWay.rows[key] else { continue }
      isEachRowGood = false
      switch key.table {
      case "fence": lostFences += 1
      case "batch": lostBatches += 1
      default: lostOthers += 1
      }
    }
    for (key, value) in found.rows where acknowledged.rows[key] == nil && underWay.rows[key] != value {
      isEachRowGood = false
      unexpected += 1
    }
    if isEachRowGood { torn += 1 }
  }

  var description: String {
    """
    \(cuts) cuts: \(corrupt) corrupt stores; lost after they were acknowledged: \(lostFences) fences, \(lostBatches) batches, \
    \(lostOthers) other rows; \(unexpected) rows that should not be there, \(torn) torn transactions
    """
  }
}
