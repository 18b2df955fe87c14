import GRDB

/// The fences of recent drives as they end, for somebody who follows a drive.
extension StoreReader {
  /// The lowest id of the drives that began last; those of several links begin together. `nil` without any drive.
  public func newestDrive() throws -> Int64? {
    try rows(
      """
      SELECT min(id) AS id FROM intact_drive
      WHERE started_at = (SELECT started_at FROM intact_drive ORDER BY id DESC LIMIT 1)
      """
    ).first?["id"]
  }

  /// The highest id of all fences; 0 without any.
  public func newestFence() throws -> Int64 {
    try rows("SELECT max(id) AS id FROM fence").first?["id"] ?? 0
  }

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
    ).map(StoredSession.init).filter { !$0.isDamaged }
    let fences = try sessions.flatMap { session in
      try rows(
        """
        SELECT \(StoredFence.columns) WHERE fence.session_id = ? AND fence.id > ? AND fence.exited_at IS NOT NULL
        ORDER BY fence.id LIMIT ?
        """, [session.id, fence, limit]
      ).compactMap { StoredFence(row: $0, session: session) }
    }
    return Array(fences.sorted { $0.id < $1.id }.prefix(limit))
  }

  /// The lowest id of the fences of this drive and later ones that have not ended; `nil` when all have.
  public func firstOpenFence(fromDrive drive: Int64) throws -> Int64? {
    try rows("SELECT min(id) AS id FROM fence WHERE drive_id >= ? AND exited_at IS NULL", [drive]).first?["id"]
  }
}
