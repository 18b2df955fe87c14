extension StoreReader {
  /// The speed tests, oldest first. Damaged ones are left out.
  /// - Throws: GRDB's `DatabaseError`
  public func speedTests() throws -> [StoredSpeedTest] {
    try rows("SELECT \(StoredSpeedTest.columns) FROM intact_speed_test ORDER BY id").compactMap(StoredSpeedTest.init)
  }

  /// The number of speed tests that have ended and are not on a server.
  /// - Throws: GRDB's `DatabaseError`
  public func unsentSpeedTests() throws -> Int {
    try rows("SELECT count(*) AS tests FROM intact_speed_test WHERE state IN ('waiting', 'sending')").first?["tests"]
      ?? 0
  }
}
