import GRDB

@testable import DriveStore

extension DriveStore {
  /// Changes rows as a flipped bit on the disk does it: no trigger sees it.
  func damage(_ sql: String) async throws {
    try await database.write { db in
      let triggers = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
      for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger["name"] as String)") }
      try db.execute(sql: sql)
      for trigger in triggers { try db.execute(sql: trigger["sql"]) }
    }
  }
}
