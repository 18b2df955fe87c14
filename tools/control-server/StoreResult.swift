import GRDB

extension Store {
  /// Stores a result completely or not at all. A test accepts one result: a second one is refused, even if the client never got the
  /// answer to the first.
  func accept(_ result: CoverageResult, peer: PeerAddress) async throws {
    try await database.write { db in
      _ = try Self.requireClient(result.clientUUID, in: db)
      let uuid = try result.requiredTest()
      let row = try Row.fetchOne(
        db,
        sql: """
          SELECT time, ip_registered FROM test WHERE uuid = ? AND state IN ('COVERAGE_STARTED', 'SIGNAL_STARTED')
          """,
        arguments: [uuid])
      // Like the real server, do not check whether the test belongs to the client.
      guard let row else { throw Refusal.badRequest("No started test found by id \(uuid)") }
      try Self.update(uuid, with: result, peer: peer, row, in: db)
      for (index, fence) in result.fences.enumerated() {
        try Self.insert(fence, at: index, test: uuid, testTime: row["time"], in: db)
      }
      try result.radio.insert(for: uuid, in: db)
    }
  }

  private static func update(
    _ uuid: String, with result: CoverageResult, peer: PeerAddress, _ test: Row, in db: Database
  ) throws {
    let registeredIP: String = test["ip_registered"]
    // A trigger of the real server's database marks tests of the model "unknown" as broken.
    let model = result.device[CoverageResult.deviceKeys.firstIndex(of: "model") ?? 0]
    let state = model?.lowercased() == "unknown" ? "UPDATE ERROR" : "COVERAGE"
    // Without an answered ping the client's address counts as unconfirmed.
    let confirmed = result.fences.contains { $0.averagePing != nil }
    var arguments: [(any DatabaseValueConvertible)?] = [
      state, peer.text, peer.text != registeredIP, confirmed, result.networkType,
      NetworkTypes.deletes(result.networkType.map(Int64.init), started: test["time"], now: Self.now()),
      result.terminationCause, result.fences.count, result.body,
    ]
    arguments += result.device
    arguments.append(uuid)
    try db.execute(
      sql: """
        UPDATE test SET state = ?, ip_submitted = ?, public_ip_changed = ?, client_ip = iif(?, client_ip, NULL),
          network_type = ?, deleted = ?, termination_cause = ?, fences_count = ?, result_body = ?,
          \(CoverageResult.deviceKeys.map { "\($0) = ?" }.joined(separator: ", "))
        WHERE uuid = ?
        """,
      arguments: StatementArguments(arguments))
  }

  private static func insert(
    _ fence: FenceSubmission, at index: Int, test: String, testTime: Int64, in db: Database
  ) throws {
    let required = try fence.required(index)
    try db.execute(
      sql: """
        INSERT INTO fence (test_uuid, fence_id, fence_time, latitude, longitude, accuracy, altitude, bearing, speed,
          provider, technology_id, technology, offset_ms, duration_ms, radius, avg_ping_ms, signal, received)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        test, index, testTime &+ Int64(required.offset), required.latitude, required.longitude,
        fence.location?.accuracy, fence.location?.altitude, fence.location?.bearing, fence.location?.speed,
        fence.location?.provider, fence.technologyID, fence.technology, required.offset, required.duration,
        fence.radius, fence.averagePing, fence.signal, fence.received.text,
      ])
  }
}
