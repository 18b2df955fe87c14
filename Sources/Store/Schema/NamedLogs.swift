import GRDB

/// The drive logs that rows of drives name, damaged rows included.
enum NamedLogs {
  /// - Throws: GRDB's `DatabaseError`
  static func all(in directory: StateDirectory, _ db: Database) throws -> Set<String> {
    Set(try String.fetchAll(db, sql: "SELECT log FROM drive WHERE log IS NOT NULL").map(directory.driveLog))
  }
}
