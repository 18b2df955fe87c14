import Coverage
import GRDBSQLite

/// A table of fences without checksums, triggers and references, with the PRAGMAs of the store.
final class BareSQLite {
  /// An error of SQLite.
  struct Failure: Error, CustomStringConvertible {
    let code: CInt
    var description: String { "bare SQLite: error \(code)" }
  }

  private var database: OpaquePointer?
  private var statement: OpaquePointer?

  /// - Parameter path: A file that does not exist yet.
  init(path: String) throws {
    try check(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil))
    try execute(
      """
      PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
      CREATE TABLE fence (id INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER UNIQUE, entered_at, exited_at, latitude,
        longitude, accuracy_m, altitude_m, course_deg, speed_mps, radius_m, technology, pings, pings_ok, rtt_sum_ns);
      """)
    try check(
      sqlite3_prepare_v2(
        database,
        """
        INSERT INTO fence (number, entered_at, exited_at, latitude, longitude, accuracy_m, altitude_m, course_deg, speed_mps,
          radius_m, technology, pings, pings_ok, rtt_sum_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '4G/LTE', ?, ?, ?)
        """, -1, &statement, nil))
  }

  deinit {
    sqlite3_finalize(statement)
    sqlite3_close(database)
  }

  /// Writes `fence`; it is durable on return.
  func save(_ fence: Fence) throws {
    sqlite3_reset(statement)
    let integers: [(CInt, Int64)] = [
      (1, Int64(fence.number)), (2, fence.entered.microseconds), (3, fence.exited?.microseconds ?? 0),
      (11, Int64(fence.pings)), (12, Int64(fence.pingsAnswered)), (13, fence.rttSumNanoseconds),
    ]
    let numbers: [(CInt, Double?)] = [
      (4, fence.centre.latitude), (5, fence.centre.longitude), (6, fence.fix.accuracy), (7, fence.fix.altitude),
      (8, fence.fix.course), (9, fence.fix.speed), (10, fence.radius),
    ]
    for (place, value) in integers { try check(sqlite3_bind_int64(statement, place, value)) }
    for (place, value) in numbers { try check(sqlite3_bind_double(statement, place, value ?? 0)) }
    let code = sqlite3_step(statement)
    guard code == SQLITE_DONE else { throw Failure(code: code) }
  }

  private func execute(_ sql: String) throws { try check(sqlite3_exec(database, sql, nil, nil, nil)) }

  private func check(_ code: CInt) throws {
    guard code == SQLITE_OK else { throw Failure(code: code) }
  }
}
