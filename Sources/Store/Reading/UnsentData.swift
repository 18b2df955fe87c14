import Coverage

/// What a store has that is not on a server, as a status counts it.
public struct UnsentData: Hashable, Sendable {
  /// Ended sessions with fences to send.
  public var sessions = 0
  /// Fences to send, of ended sessions.
  public var fences = 0
  /// Fences that the server refused, or may have: they are sent again on command only.
  public var quarantined = 0
  /// When the oldest session with fences to send began.
  public var oldest: WallTime?
  /// Fences whose session is missing: they wait until they are old enough.
  public var withoutSession = 0
  /// Speed tests that have ended.
  public var speedTests = 0
  /// Sessions of drives with a target of their own, which wait for nothing.
  public var kept = 0

  public init() {}
}

extension StoreReader {
  /// Counts the unsent data. After a week without a server there are hundreds of sessions, and a status is asked for each second: one
  /// statement without the values of sessions, and no fence is read.
  /// - Parameter running: The lowest id of the running drives, whose fences without a session are not counted.
  public func unsentData(except running: Int64? = nil) throws -> UnsentData {
    var data = UnsentData()
    data.withoutSession = try unsentOrphans(except: running)
    data.speedTests = try unsentSpeedTests()
    data.kept = try keptSessions()
    let row = try rows(
      """
      SELECT count(*) FILTER (WHERE waiting > 0) AS sessions, CAST(total(waiting) AS INTEGER) AS fences,
        CAST(total(quarantined) AS INTEGER) AS quarantined, min(started_at) FILTER (WHERE waiting > 0) AS oldest
      FROM (
        SELECT session.started_at, CAST(ifnull(counts.quarantined, 0) AS INTEGER) AS quarantined,
          \(StoredSession.unsent) - CAST(ifnull(counts.quarantined, 0) AS INTEGER) AS waiting
        FROM session_of_unsent_fences AS named
          CROSS JOIN intact_session AS session ON session.id = named.id
          CROSS JOIN intact_drive AS drive ON drive.id = session.drive_id
          LEFT JOIN \(UnsentCounts.bySession) AS counts ON counts.session_id = session.id
        WHERE session.finalized_at IS NOT NULL)
      """
    ).first
    guard let row else { return data }
    (data.sessions, data.fences, data.quarantined) = (row["sessions"], row["fences"], row["quarantined"])
    data.oldest = (row["oldest"] as Int64?).map(WallTime.init(microseconds:))
    return data
  }
}
