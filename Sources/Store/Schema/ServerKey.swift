import GRDB

/// The store's key for a control server: its URL without user information, so that no password is stored in clear
/// text.
enum ServerKey {
  static func of(_ url: String) -> String {
    guard let scheme = url.range(of: "://") else { return url }
    let rest = url[scheme.upperBound...]
    // Everything before the last @ of the authority.
    let authority = rest.prefix { !"/?#".contains($0) }
    guard let end = authority.lastIndex(of: "@") else { return url }
    return String(url[..<scheme.upperBound] + rest[rest.index(after: end)...])
  }

  /// Gives rows of earlier builds the new key. If two servers have the same new key, or a row is damaged, the row
  /// with the password is deleted: the server can send its content again.
  static func removeUserInformation(_ db: Database) throws {
    try ChecksumFunction.register(db)
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
