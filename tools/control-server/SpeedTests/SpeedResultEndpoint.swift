import GRDB

/// POST /result: the figures of a speed test.
extension Endpoints {
  func speedResult(_ call: Call) async throws -> Answer {
    let result = try SpeedResult(Fields(body: call.body), body: call.text)
    try await store.accept(result)
    return .json(["error": []])
  }
}

extension Store {
  /// Stores a result and closes its test. A second result of a test is refused, even if the client never got the answer to the first.
  func accept(_ result: SpeedResult) async throws {
    try await database.write { db in
      let (uuid, state, registered) = try Self.speedTest(result.test, in: db)
      guard state == SpeedTestState.started.rawValue else { throw Refusal.badRequest("invalid test status") }
      // Like the real server, report success and store nothing.
      if result.isFailed { return }
      let figures = try result.figures()
      try db.execute(
        sql: """
          INSERT INTO speed_result (test_uuid, received, test_speed_download, test_speed_upload, test_ping_shortest,
            network_type, body)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          uuid, Self.now(), figures.speedDownload, figures.speedUpload, figures.pingShortest, figures.networkType,
          result.body,
        ])
      try result.radio.insert(for: uuid, in: db)
      try Self.setState(.finished, ofSpeedTest: uuid, in: db)
      let entry = NetworkTypes.entry(figures.networkType)
      try db.execute(
        sql: "UPDATE speed_test SET deleted = ?, network_group_name = ?, network_group_type = ? WHERE uuid = ?",
        arguments: [
          NetworkTypes.deletes(figures.networkType, started: registered, now: Self.now()), entry?.group, entry?.type,
          uuid,
        ])
    }
  }

  static func setState(_ state: SpeedTestState, ofSpeedTest uuid: String, in db: Database) throws {
    try db.execute(sql: "UPDATE speed_test SET state = ? WHERE uuid = ?", arguments: [state.rawValue, uuid])
  }

  /// The test with this UUID or open UUID.
  private static func speedTest(_ uuid: String?, in db: Database) throws -> (
    uuid: String, state: String, registered: Int64
  ) {
    let row = try Row.fetchOne(
      db, sql: "SELECT uuid, state, registered FROM speed_test WHERE ? IN (uuid, open_test_uuid)", arguments: [uuid])
    guard let row else { throw Refusal.badRequest("No test found by id \(uuid ?? "null")") }
    return (row["uuid"], row["state"], row["registered"])
  }
}
