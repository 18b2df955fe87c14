import Foundation
import GRDB

/// The database: clients, tests with their fences, and the log of requests.
struct Store: Sendable {
  /// The largest number of requests in the log; older ones are deleted.
  static let requestLimit = 2000

  let database: DatabaseQueue

  /// - Parameter path: A file, or `:memory:`.
  init(path: String) throws {
    database = path == ":memory:" ? try DatabaseQueue() : try DatabaseQueue(path: path)
    try Schema.migrator.migrate(database)
  }

  func close() throws { try database.close() }

  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  static func newUUID() -> String { UUID().uuidString.lowercased() }

  /// - Throws: The real server's 400 for an unknown client.
  static func requireClient(_ uuid: String?, in db: Database) throws -> String {
    guard let uuid, try isClient(uuid, in: db) else {
      throw Refusal.badRequest("No client found by id \(uuid ?? "null")")
    }
    return uuid
  }

  static func isClient(_ uuid: String, in db: Database) throws -> Bool {
    try Row.fetchOne(db, sql: "SELECT 1 FROM client WHERE uuid = ?", arguments: [uuid]) != nil
  }

  func createClient() async throws -> String {
    let uuid = Self.newUUID()
    try await database.write { db in
      try db.execute(sql: "INSERT INTO client (uuid, time) VALUES (?, ?)", arguments: [uuid, Self.now()])
    }
    return uuid
  }

  func clientExists(_ uuid: String) async throws -> Bool {
    try await database.read { db in try Self.isClient(uuid, in: db) }
  }
}

extension Store {
  func log(_ entry: RequestEntry) async throws {
    try await database.write { db in
      try db.execute(
        sql: """
          INSERT INTO request (time, method, path, peer, fault, status, reason, body, encoding, port)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          Self.now(), entry.method, entry.path, entry.peer, entry.fault, entry.status, entry.reason, entry.body,
          entry.encoding, entry.port,
        ])
      try db.execute(
        sql: "DELETE FROM request WHERE id <= ?", arguments: [db.lastInsertedRowID - Int64(Self.requestLimit)])
      try db.execute(
        sql: """
          INSERT INTO request_count (path, count) VALUES (?, 1) ON CONFLICT (path) DO UPDATE SET count = count + 1
          """,
        arguments: [entry.path])
    }
  }

  /// The log, oldest first.
  func requests() async throws -> JSONValue {
    let entries = try await database.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM request ORDER BY id").map { row -> JSONValue in
        [
          "id": JSONValue(row["id"] as Int64?), "time": JSONValue(row["time"] as Int64?),
          "method": JSONValue(row["method"] as String?), "path": JSONValue(row["path"] as String?),
          "peer": JSONValue(row["peer"] as String?), "fault": JSONValue(row["fault"] as String?),
          "status": JSONValue(row["status"] as Int64?), "reason": JSONValue(row["reason"] as String?),
          "body": JSONValue(row["body"] as String?), "encoding": JSONValue(row["encoding"] as String?),
          "port": JSONValue(row["port"] as Int64?),
        ]
      }
    }
    return ["requests": .array(entries)]
  }
}
