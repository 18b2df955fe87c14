import GRDB
import OrderedJSON
import TestSupport
import Testing

@testable import Export

/// Rows of a GeoPackage, value by value.
struct RowInsertionTests {
  private func insert(_ rows: [[JSON?]]) throws -> [[DatabaseValue]] {
    let queue = try DatabaseQueue()
    return try queue.write { db in
      try db.execute(sql: "CREATE TABLE t (a, b, c)")
      var row = RowInsertion(try db.makeStatement(sql: "INSERT INTO t VALUES (?, ?, ?)"), in: db)
      for values in rows {
        for value in values { row.bind(value) }
        try row.insert()
      }
      return try Row.fetchAll(db, sql: "SELECT * FROM t ORDER BY rowid").map { Array($0.databaseValues) }
    }
  }

  @Test("when values are bound, then each has SQLite's type for it, and an unknown one is NULL")
  func types() throws {
    let rows = try insert([
      ["text", 7, .decimal(units: 31_670, places: 3)], [true, nil, .null],
      [.number(.infinity), .object([.init("a", 1)]), .array([1, 2])],
    ])
    #expect(rows[0] == ["text".databaseValue, 7.databaseValue, 31.67.databaseValue])
    #expect(rows[1] == [1.databaseValue, .null, .null])
    #expect(rows[2] == [Double.infinity.databaseValue, #"{"a":1}"#.databaseValue, "[1,2]".databaseValue])
  }

  @Test("when a row has fewer values than the previous row, then no value of the previous row is left in it")
  func shorter() throws {
    let rows = try insert([["a", "b", "c"], [1]])
    #expect(rows[1] == [1.databaseValue, .null, .null])
  }

  @Test("when a text is empty or long, then it is stored whole", arguments: [0, 1, 15, 16, 100_000])
  func lengths(length: Int) throws {
    let text = String(repeating: "ö", count: length)
    #expect(try insert([[.string(text)]])[0][0] == text.databaseValue)
  }

  @Test("when a value is refused, then the row is not inserted without it, and the next row can be inserted")
  func refusedValue() throws {
    let queue = try DatabaseQueue()
    try queue.write { db in
      try db.execute(sql: "CREATE TABLE t (a)")
      var row = RowInsertion(try db.makeStatement(sql: "INSERT INTO t VALUES (?)"), in: db)
      row.bind("text")
      row.bind(1.5)
      let error = #expect(throws: DatabaseError.self) { try row.insert() }
      #expect(error?.resultCode == .SQLITE_RANGE)
      row.bind("another")
      try row.insert()
      #expect(try String.fetchAll(db, sql: "SELECT a FROM t") == ["another"])
    }
  }

  @Test("when a row is refused, then the error is the database's, with its message, and the next row can be inserted")
  func refused() throws {
    let queue = try DatabaseQueue()
    try queue.write { db in
      try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY)")
      var row = RowInsertion(try db.makeStatement(sql: "INSERT INTO t VALUES (?)"), in: db)
      row.bind(Int64(1))
      try row.insert()
      row.bind(Int64(1))
      let error = #expect(throws: DatabaseError.self) { try row.insert() }
      #expect(error?.resultCode == .SQLITE_CONSTRAINT && error?.message?.contains("UNIQUE") == true)
      row.bind(Int64(2))
      try row.insert()
      let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
      #expect(count == 2)
    }
  }
}
