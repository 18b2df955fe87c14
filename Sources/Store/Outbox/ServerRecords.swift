import GRDB

/// What the store has for each control server, by its URL: this device's client UUID, the place in the history, and the state of the
/// gate (table `breaker`).
public struct ServerRecords: Sendable {
  let store: StoreDatabase

  /// The client UUID from the control server at `url`; `nil` when there is none, or it is damaged.
  /// - Throws: GRDB's `DatabaseError`
  public func clientUUID(at url: String) async throws -> String? {
    try await registered("client_uuid", at: url)
  }

  /// Whether the store has a client UUID, from any server.
  func knowsClient() async throws -> Bool {
    try await store.readAmongWrites { try $0.has("intact_registration") }
  }

  /// Stores the client UUID, in a row without a place in the history: another client has another history.
  /// - Throws: GRDB's `DatabaseError`
  public func setClientUUID(_ uuid: String, at url: String) async throws {
    try await store.write { [copies = store.copies] db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO registration (control_server, client_uuid) VALUES (?, ?)",
        arguments: [ServerKey.of(url), uuid])
      try copies.keep(.registration, ServerKey.of(url), db)
    }
  }

  /// The time of the newest test seen in the history at `url`, in milliseconds since the epoch; `nil` before the
  /// first reading.
  /// - Throws: GRDB's `DatabaseError`
  public func historyCursor(at url: String) async throws -> Int64? {
    try await registered("history_cursor", at: url)
  }

  private func registered<Value: DatabaseValueConvertible & Sendable>(
    _ column: String, at url: String
  ) async throws -> Value? {
    try await store.readAmongWrites { db in
      try Value.fetchOne(
        db, sql: "SELECT \(column) FROM intact_registration WHERE control_server = ?", arguments: [ServerKey.of(url)])
    }
  }

  /// Stores the time of the newest test seen in the history at `url`, in milliseconds since the epoch.
  /// - Throws: GRDB's `DatabaseError`
  public func setHistoryCursor(_ cursor: Int64?, at url: String) async throws {
    try await store.write { [copies = store.copies] db in
      try db.execute(
        sql: "UPDATE registration SET history_cursor = ? WHERE control_server = ?",
        arguments: [cursor, ServerKey.of(url)])
      try copies.keep(.registration, ServerKey.of(url), db)
    }
  }

  /// Stores the lasting state of `Submission.ServerGate` for the server at `url`, as JSON: the circuit breaker and
  /// the other waits.
  /// - Throws: GRDB's `DatabaseError`
  public func setGateMemory(_ memory: String, at url: String) async throws {
    try await store.execute(
      "INSERT OR REPLACE INTO breaker (control_server, memory) VALUES (?, ?)", [ServerKey.of(url), memory])
  }
}
