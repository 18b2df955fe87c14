import Foundation
import GRDB

/// POST /testRequest: a speed test, its token and its measurement server.
extension Endpoints {
  func testRequest(_ call: Call) async throws -> Answer {
    let request = try SpeedTestRequest(Fields(body: call.body), body: call.text)
    let (server, test) = try await store.register(request, options: options, peer: call.peer)
    let control = call.base + Route.control
    // Some numbers are text here, as on the real server.
    let answer: JSONValue = [
      "test_token": .string(test.token), "test_uuid": .string(test.uuid),
      "open_test_uuid": .string("O" + test.openUUID),
      "test_server_address": .string(server.address.host), "test_server_port": JSONValue(server.address.port),
      "test_server_encryption": .bool(server.usesTLS), "test_server_type": .string(server.type.rawValue),
      "test_server_name": .string("stand-in (\(server.address.host))"),
      "test_duration": .string(String(server.testDuration)), "test_numthreads": .string(request.threads(of: server)),
      "test_numpings": "10", "test_wait": JSONValue(server.testWait),
      "client_remote_ip": .string(call.peer.text), "provider": "stand-in",
      "result_url": .string("\(control)/result"), "result_qos_url": .string("\(control)/resultQoS"),
      "loop_uuid": JSONValue(test.loopUUID.map { "L" + $0 }), "error": [],
    ]
    return .json(answer.withoutNulls)
  }
}

extension Store {
  static func checked(_ request: SpeedTestRequest, in db: Database) throws -> (client: String, timezone: String) {
    guard let client = request.clientUUID, try isClient(client, in: db) else {
      throw Refusal.listed("No client found by id \(request.clientUUID ?? "null")")
    }
    return (client, try request.checked())
  }

  func register(
    _ request: SpeedTestRequest, options: ServerOptions, peer: PeerAddress
  ) async throws -> (MeasurementServer, RegisteredSpeedTest) {
    try await database.write { db in
      let (client, timezone) = try Self.checked(request, in: db)
      let server = try request.server(of: options)
      let openUUID = Self.newUUID()
      // The token is valid from the end of the wait.
      let token = SpeedTestToken.text(
        secret: server.secret, openTestUUID: openUUID, unixSeconds: Self.now() / 1000 + Int64(server.testWait),
        peer: peer)
      let test = RegisteredSpeedTest(
        uuid: Self.newUUID(), openUUID: openUUID, token: token,
        loopUUID: request.loop.map { $0.uuid ?? Self.newUUID() })
      try db.execute(
        sql: """
          INSERT INTO speed_test (uuid, open_test_uuid, client_uuid, token, loop_uuid, test_counter,
            measurement_type_flag, state, timezone, client_ip, registered, request_body)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          test.uuid, openUUID, client, token, test.loopUUID, request.loop?.testCounter, request.measurementType,
          SpeedTestState.started.rawValue, timezone, peer.text, Self.now(), request.body,
        ])
      return (server, test)
    }
  }
}
