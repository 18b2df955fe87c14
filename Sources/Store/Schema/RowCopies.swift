import Foundation
import GRDB
import OrderedJSON

/// The second copies of rows that are in no drive log: a file of one JSON line for each, in the folder `copies`.
///
/// A copy is durable before its row is committed, so it is never older than the store: a report that may have left does not wait again
/// after a recovery. The row's own checksum seals it. A copy that cannot be written is deleted, because an old one would say less.
struct RowCopies: Sendable {
  /// The tables that have copies.
  enum Table: String, CaseIterable {
    case identity, registration, loop
    case speedTest = "speed_test"

    /// The column that identifies a row.
    var key: String { self == .registration ? "control_server" : "id" }
  }

  private let folder: String

  init(_ directory: StateDirectory) { folder = directory.copies }

  // MARK: Writing

  /// Copies a row. Call it at the end of the transaction that changes the row.
  func keep(_ table: Table, _ key: some DatabaseValueConvertible, _ db: Database) throws {
    let name = table.rawValue
    let row = try Row.fetchOne(db, sql: "SELECT * FROM intact_\(name) WHERE \(table.key) = ?", arguments: [key])
    // A damaged row is not copied over an intact copy.
    guard let row else { return }
    let members = row.map { column, value in JSON.Member(column, Self.json(value)) }
    let path = path(table, key), new = path + ".new"
    guard Self.write(JSON.object([.init(name, .object(members))]).text + "\n", to: new), rename(new, path) == 0,
      StateDirectory.syncNames(in: folder)
    else {
      unlink(new)
      unlink(path)
      return
    }
  }

  private static func json(_ value: DatabaseValue) -> JSON {
    switch value.storage {
    case .int64(let integer): .integer(integer)
    case .double(let number): .number(number)
    case .string(let text): .string(text)
    case .null, .blob: .null
    }
  }

  private static func write(_ text: String, to path: String) -> Bool {
    guard let descriptor = try? StateFile.open(path, O_WRONLY | O_CREAT | O_TRUNC) else { return false }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    return Foundation.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
  }

  /// Deletes speed tests and, before that is committed, their copies.
  func delete(speedTests ids: [Int64], _ db: Database) throws {
    guard !ids.isEmpty else { return }
    for id in ids {
      try db.execute(sql: "DELETE FROM speed_test WHERE id = ?", arguments: [id])
      unlink(path(.speedTest, id))
    }
    _ = StateDirectory.syncNames(in: folder)
  }

  /// The path of a row's copy.
  func path(_ table: Table, _ key: some DatabaseValueConvertible) -> String {
    let text = String.fromDatabaseValue(key.databaseValue) ?? Int64.fromDatabaseValue(key.databaseValue)?.description
    let name = text?.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "\(folder)/\(table.rawValue)-\(name).jsonl"
  }

  // MARK: Restoring

  /// Restores a damaged identity, and keeps a copy of a new one. A store that was made again from drive logs has another identity than the
  /// one before: the ids in it may be others.
  func settleIdentity(of store: DatabaseQueue) throws {
    let copy = Self.read(path(.identity, 1), .identity)
    try store.writeWithoutTransaction { db in
      func stored() throws -> DatabaseValue? {
        try DatabaseValue.fetchOne(db, sql: "SELECT uuid FROM intact_identity")
      }
      if let copy, try db.has("drive"), try stored() == nil { try Self.insert(copy, .identity, db) }
      if try stored() == nil { try Schema.makeIdentity(db) }
      if try stored() != copy?["uuid"] { try keep(.identity, 1, db) }
    }
  }

  /// Writes copied rows to the store where it lacks them: of tables with damaged rows, and of all tables after a loss.
  /// - Parameter hasLosses: Whether the store may lack writes.
  func restore(to store: DatabaseQueue, hasLosses: Bool) throws {
    let tables = try store.read { db in
      try Table.allCases.filter { table in
        try hasLosses || db.has("\(table.rawValue) WHERE \(RowChecksum.isDamaged(table.rawValue))")
      }
    }
    guard !tables.isEmpty, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return }
    for table in tables where table != .identity {
      for name in names.sorted() where name.hasPrefix(table.rawValue + "-") && name.hasSuffix(".jsonl") {
        guard let values = Self.read("\(folder)/\(name)", table) else { continue }
        try store.write { try Self.insert(values, table, $0) }
      }
    }
  }

  private static func insert(_ values: [String: DatabaseValue], _ table: Table, _ db: Database) throws {
    let columns = RowChecksum.columns(of: table.rawValue)
    let row = columns.map { values[$0] ?? .null }
    let places = row.map { _ in "?" }.joined(separator: ", ")
    let checksum = try DatabaseValue.fetchOne(
      db, sql: "SELECT \(ChecksumFunction.name)(\(places))", arguments: StatementArguments(row))
    guard checksum == values[RowChecksum.column] else { return }
    do {
      try db.execute(
        sql: "INSERT OR REPLACE INTO \(table.rawValue) (\(columns.joined(separator: ", "))) VALUES (\(places))",
        arguments: StatementArguments(row))
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {}
  }

  /// No row is longer, in bytes.
  private static let largest = 64 << 20

  private static func read(_ path: String, _ table: Table) -> [String: DatabaseValue]? {
    let file = RawFile(path)
    guard file.bytes <= largest, let bytes = file.read(0, file.bytes),
      let line = try? JSONDecoder().decode([String: [String: CopiedValue]].self, from: Data(bytes))
    else { return nil }
    return line[table.rawValue]?.mapValues(\.value)
  }
}

extension StoreDatabase {
  var copies: RowCopies { RowCopies(directory) }
}

/// A value of a copied row.
private struct CopiedValue: Decodable {
  let value: DatabaseValue

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    value =
      if container.decodeNil() { .null } else if let integer = try? container.decode(Int64.self) {
        integer.databaseValue
      } else if let number = try? container.decode(Double.self) { number.databaseValue } else {
        try container.decode(String.self).databaseValue
      }
  }
}
