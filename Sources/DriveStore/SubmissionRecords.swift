import Coverage
import GRDB

/// What submitting changes in the store.
extension DriveStore {
  /// The client UUID that the control server at `url` gave this device.
  public func clientUUID(at url: String) async throws -> String? {
    try await database.read { db in
      try String.fetchOne(db, sql: "SELECT client_uuid FROM registration WHERE control_server = ?", arguments: [url])
    }
  }

  public func setClientUUID(_ uuid: String, at url: String) async throws {
    try await keep { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO registration (control_server, client_uuid) VALUES (?, ?)",
        arguments: [url, uuid])
    }
  }

  /// Gives a session that was recorded offline the test that the control server made for it afterwards.
  public func anchor(session: Int64, testUUID: String, loopUUID: String?, at anchor: WallTime) async throws {
    try await keep { db in
      try db.execute(
        sql: "UPDATE session SET test_uuid = ?, loop_uuid = ?, anchor_at = ? WHERE id = ?",
        arguments: [testUUID, loopUUID, anchor.microseconds, session])
    }
  }

  /// Notes that the control server has accepted `session` with these fences. They stay, for export.
  public func markSubmitted(session: Int64, fences: [Int64], at time: WallTime) async throws {
    try await keep { db in
      try db.execute(
        sql: """
          UPDATE session SET submitted_at = ?, quarantined_at = NULL, quarantine_reason = NULL WHERE id = ?
          """, arguments: [time.microseconds, session])
      for fence in fences {
        try db.execute(
          sql: "UPDATE fence SET submitted_at = ? WHERE id = ?", arguments: [time.microseconds, fence])
      }
    }
  }

  /// Notes that the control server refuses `session` for good. It stays, and is sent again on command only.
  public func quarantine(session: Int64, reason: String, at time: WallTime) async throws {
    try await keep { db in
      try db.execute(
        sql: "UPDATE session SET quarantined_at = ?, quarantine_reason = ? WHERE id = ?",
        arguments: [time.microseconds, reason, session])
    }
  }

  /// Writes even when the calling task was cancelled meanwhile: what the server has said must not be forgotten.
  private func keep(_ updates: @escaping @Sendable (Database) throws -> Void) async throws {
    try await Task { [database] in try await database.write(updates) }.value
  }
}
