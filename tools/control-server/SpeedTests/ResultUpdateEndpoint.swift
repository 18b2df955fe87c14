import GRDB

/// POST /resultUpdate: closes a speed test that has no result.
extension Endpoints {
  func resultUpdate(_ call: Call) async throws -> Answer {
    let fields = try Fields(body: call.body)
    let client = try fields.uuid("uuid", afterLetter: "U")
    let test = try fields.uuid("test_uuid")
    let isAborted = try fields.bool("aborted") ?? false
    let isFailed = try fields.bool("failed") ?? false
    let state: SpeedTestState? = isAborted ? .aborted : isFailed ? .failed : nil
    try await store.close(speedTest: test, of: client, as: state)
    return .json(["error": []])
  }
}

extension Store {
  /// - Parameter state: `nil` changes nothing.
  func close(speedTest uuid: String?, of client: String?, as state: SpeedTestState?) async throws {
    try await database.write { db in
      let client = try Self.requireClient(client, in: db)
      let old = try String.fetchOne(
        db, sql: "SELECT state FROM speed_test WHERE uuid = ? AND client_uuid = ?", arguments: [uuid, client])
      guard let uuid, let old else { throw Refusal.badRequest("No test found by id \(uuid ?? "null")") }
      guard let state else { return }
      // A repeated update changes nothing; a test with a result keeps it.
      guard old != SpeedTestState.finished.rawValue else { throw Refusal.badRequest("invalid test status") }
      if old == SpeedTestState.started.rawValue { try Self.setState(state, ofSpeedTest: uuid, in: db) }
    }
  }
}
