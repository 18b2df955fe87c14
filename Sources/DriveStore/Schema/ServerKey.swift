import GRDB

/// By what the store knows a control server: its URL without user information, for a password is nothing to keep in clear text.
enum ServerKey {
  static func of(_ url: String) -> String {
    guard let scheme = url.range(of: "://") else { return url }
    let rest = url[scheme.upperBound...]
    // All before the last @ of what comes before the path.
    let authority = rest.prefix { !"/?#".contains($0) }
    guard let end = authority.lastIndex(of: "@") else { return url }
    return String(url[..<scheme.upperBound] + rest[rest.index(after: end)...])
  }

  /// Gives rows of earlier builds the new key. Of two servers that have the same one then, and of damaged rows, the one with the password
  /// goes: what it says can be asked for again.
  static func removeUserInformation(_ db: Database) throws {
    try RowChecksum.register(db)
    for table in ["registration", "breaker"] {
      let keys = try String.fetchAll(
        db,
        sql: "SELECT control_server FROM \(table) WHERE typeof(control_server) = 'text' AND control_server LIKE '%@%'")
      for key in keys where of(key) != key {
        try db.execute(
          sql:
            "UPDATE OR IGNORE \(table) SET control_server = ? WHERE control_server = ? AND \(RowChecksum.isIntact(table))",
          arguments: [of(key), key])
        try db.execute(sql: "DELETE FROM \(table) WHERE control_server = ?", arguments: [key])
      }
    }
  }
}
