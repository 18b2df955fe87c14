import GRDB

/// What control servers have given this device, and how far each is known.
public struct ServerRecords: Sendable {
  let store: StoreDatabase

  /// The client UUID that the control server at `url` gave this device; `nil` when there is none, or it is damaged.
  public func clientUUID(at url: String) async throws -> String? {
    try await store.read { db in
      try String.fetchOne(
        db,
        sql: """
          SELECT client_uuid FROM intact_registration WHERE control_server = ?
          """, arguments: [ServerKey.of(url)])
    }
  }

  /// Another client has another history.
  public func setClientUUID(_ uuid: String, at url: String) async throws {
    try await store.write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO registration (control_server, client_uuid) VALUES (?, ?)",
        arguments: [ServerKey.of(url), uuid])
    }
  }

  /// How far the history at `url` is known: the time of the newest test that was seen, in milliseconds; `nil`: not at all.
  public func historyCursor(at url: String) async throws -> Int64? {
    try await store.read { db in
      try Int64.fetchOne(
        db,
        sql: """
          SELECT history_cursor FROM intact_registration WHERE control_server = ?
          """, arguments: [ServerKey.of(url)])
    }
  }

  public func setHistoryCursor(_ cursor: Int64?, at url: String) async throws {
    try await store.write { db in
      try db.execute(
        sql: "UPDATE registration SET history_cursor = ? WHERE control_server = ?",
        arguments: [cursor, ServerKey.of(url)])
    }
  }

  /// Stores what `Submission.ServerGate` remembers of the server at `url`, as JSON: the circuit breaker and its other waits.
  public func setBreakerMemory(_ memory: String, at url: String) async throws {
    try await store.write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO breaker (control_server, memory) VALUES (?, ?)",
        arguments: [ServerKey.of(url), memory])
    }
  }
}
