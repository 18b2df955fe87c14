import GRDB

extension Database {
  /// Changes rows as a flipped bit on the disk would: no trigger runs, so the checksum stays that of the old values.
  /// - Throws: GRDB's `DatabaseError`
  public func damage(_ sql: String) throws {
    let triggers = try Row.fetchAll(self, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    for trigger in triggers { try execute(sql: "DROP TRIGGER \(trigger["name"] as String)") }
    try execute(sql: sql)
    for trigger in triggers { try execute(sql: trigger["sql"]) }
  }
}
