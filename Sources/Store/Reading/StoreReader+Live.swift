import GRDB

/// The fences of recent drives as they end, for the live page.
extension StoreReader {
  /// The lowest id of the drives that began last; those of several links begin together. `nil` without any drive.
  public func newestDrive() throws -> Int64? {
    try value(
      """
      SELECT min(id) FROM intact_drive
      WHERE started_at = (SELECT started_at FROM intact_drive ORDER BY id DESC LIMIT 1)
      """)
  }

  /// The highest id of all fences; 0 without any.
  public func newestFence() throws -> Int64 { try value("SELECT max(id) FROM fence") ?? 0 }

  /// The intact fences that have ended, in the order of their ids.
  /// - Parameters:
  ///   - fence: Only those with a higher id.
  ///   - drive: Only those of this drive and later ones.
  ///   - limit: The most to read.
  public func endedFences(after fence: Int64, fromDrive drive: Int64, limit: Int) throws -> [StoredFence] {
    let sessions = try rows(
      """
      SELECT \(StoredSession.columnsWithoutCounts)
      WHERE session.drive_id >= ? AND EXISTS (SELECT 1 FROM fence WHERE session_id = session.id AND fence.id > ?)
      ORDER BY session.id
      """, [drive, fence]
    ).map(StoredSession.init)
    let fences = try sessions.flatMap { session in
      try self.fences(
        of: session, "session_id = ? AND id > ? AND exited_at IS NOT NULL ORDER BY id LIMIT ?",
        [session.id, fence, limit])
    }
    return Array(fences.sorted { $0.id < $1.id }.prefix(limit))
  }

  /// The last intact fence that has ended of each link, up to a fence, in the drive of that fence.
  /// - Parameter fence: Only this id and lower ones.
  public func lastFences(upTo fence: Int64) throws -> [StoredFence] {
    // The drives of several links begin together.
    let ids: [Int64] = try rows(
      """
      SELECT (SELECT id FROM fence WHERE drive_id = drive.id AND id <= :fence AND exited_at IS NOT NULL
        ORDER BY id DESC LIMIT 1) AS id
      FROM intact_drive AS drive WHERE started_at = (SELECT started_at FROM intact_drive
        WHERE id = (SELECT drive_id FROM fence WHERE id <= :fence ORDER BY id DESC LIMIT 1))
      """, ["fence": fence]
    ).compactMap { $0["id"] }
    return try ids.compactMap(self.fence(id:))
  }

  /// The lowest id of the fences of this drive and later ones that have not ended; `nil` when all have.
  public func firstOpenFence(fromDrive drive: Int64) throws -> Int64? {
    try value("SELECT min(id) FROM fence WHERE drive_id >= ? AND exited_at IS NULL", [drive])
  }
}

/// The speed tests beside recent drives, for followers of the live page.
extension StoreReader {
  /// The drive of a fence; `nil` when there is no such fence.
  public func drive(ofFence fence: Int64) throws -> Int64? {
    try value("SELECT drive_id FROM fence WHERE id = ?", [fence])
  }

  /// The lowest id that a speed test of this drive or a later one may have. Tests without a drive count if they began after the drive did.
  public func firstSpeedTest(fromDrive drive: Int64) throws -> Int64 {
    let first: Int64? = try value(
      """
      SELECT min(id) FROM speed_test
      WHERE drive_id >= ?1
        OR drive_id IS NULL AND started_at >= coalesce((SELECT started_at FROM intact_drive WHERE id = ?1), 0)
      """, [drive])
    if let first { return first }
    let last: Int64? = try value("SELECT max(id) FROM speed_test")
    return (last ?? 0).saturatingAdding(1)
  }

  /// What distinguishes the present state of each speed test from its earlier ones. It reads no figures, so it costs little.
  /// - Parameter first: The lowest id.
  public func speedTestVersions(from first: Int64) throws -> [SpeedTestVersion] {
    // `typeof` reads the header of the row only; the results themselves fill pages. A damaged row can have NULL anywhere.
    try rows(
      """
      SELECT id, coalesce(state || ' ' || attempt || ' ' || troubles || ' ' || coalesce(ended_at, '') || ' '
        || coalesce(sent_at, '') || ' ' || coalesce(settled_at, '') || ' ' || typeof(qos_state), '') AS version
      FROM speed_test WHERE id >= ? ORDER BY id
      """, [first]
    ).map { SpeedTestVersion(id: $0["id"], text: $0["version"]) }
  }

  /// The intact speed tests with these ids, oldest first.
  public func speedTests(ids: [Int64]) throws -> [StoredSpeedTest] {
    guard !ids.isEmpty else { return [] }
    let places = Array(repeating: "?", count: ids.count).joined(separator: ", ")
    return try rows(
      "SELECT \(StoredSpeedTest.columns) FROM intact_speed_test WHERE id IN (\(places)) ORDER BY id",
      StatementArguments(ids)
    ).compactMap(StoredSpeedTest.init)
  }
}

/// A state of a stored speed test, by a text that is another one after each step of the test.
public struct SpeedTestVersion: Hashable, Sendable, Identifiable {
  /// The test's row number in the store.
  public let id: Int64
  /// To be compared with another one of the same test.
  public let text: String

  public init(id: Int64, text: String) { (self.id, self.text) = (id, text) }
}
