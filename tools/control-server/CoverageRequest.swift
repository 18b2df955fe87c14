import Foundation
import GRDB

/// The body of POST /coverageRequest, checked as far as possible without the database.
struct CoverageRequest: Sendable {
  static let clientNames: Set<String> = ["RMBT", "RMBTws", "RMBThttp", "QoS", "RMBTudp"]
  static let platforms: Set<String> = ["ANDROID", "IOS", "CLI", "WINDOWS", "DARWIN", "LINUX"]
  static let measurementTypes: Set<String> = ["regular", "dedicated", "loop_active", "loop_waiting"]

  let clientUUID: String?
  /// `nil`: absent; `.some(nil)`: malformed.
  let loopUUID: String??
  let clientName: String?
  let platform: String?
  let timezone: String?
  let time: Int64?
  let measurementType: String?
  let signal: Bool
  let clientLanguage, softwareRevision, model, osVersion, clientSoftwareVersion, device: String?
  let body: String

  init(_ fields: Fields, body: String) throws {
    clientUUID = try fields.uuid("client_uuid")
    loopUUID = try fields.string("loop_uuid") == nil ? nil : .some(fields.uuid("loop_uuid"))
    clientName = try fields.string("client_name")
    platform = try fields.string("platform")
    timezone = try fields.string("timezone")
    time = try fields.integer("time", as: Int64.self)
    measurementType = try fields.string("measurement_type_flag")
    if let measurementType, !Self.measurementTypes.contains(measurementType) {
      throw Refusal.format("unknown measurement_type_flag \(measurementType)")
    }
    signal = try fields.bool("signal") ?? false
    clientLanguage = try fields.string("client_language")
    softwareRevision = try fields.string("softwareRevision")
    model = try fields.string("model")
    osVersion = try fields.string("os_version")
    clientSoftwareVersion = try fields.string("client_software_version")
    device = try fields.string("device")
    try Columns.check(fields)
    self.body = body
  }

  /// The values that a test row requires. The server checks the client before these.
  func required() throws -> (clientName: String, platform: String, timezone: String, time: Int64) {
    guard let clientName else { throw Refusal.swallowed("client_name is missing") }
    guard Self.clientNames.contains(clientName) else { throw Refusal.badRequest("unknown client_name \(clientName)") }
    guard let platform else { throw Refusal.swallowed("platform is missing") }
    guard Self.platforms.contains(platform.uppercased()) else {
      throw Refusal.badRequest("unknown platform \(platform)")
    }
    guard let timezone else { throw Refusal.swallowed("timezone is missing") }
    guard TimeZone(identifier: timezone) != nil else { throw Refusal.swallowed("unknown timezone \(timezone)") }
    guard let time else { throw Refusal.swallowed("time is missing") }
    return (clientName, platform, timezone, time)
  }
}

extension Store {
  func register(_ request: CoverageRequest, peer: PeerAddress) async throws -> RegisteredTest {
    try await database.write { db in
      let client = try Self.requireClient(request.clientUUID, in: db)
      let loop = try Self.loop(request.loopUUID, of: client, in: db)
      let required = try request.required()
      let test = RegisteredTest(uuid: Self.newUUID(), loopUUID: loop.uuid, loopCounter: loop.counter)
      try db.execute(
        sql: """
          INSERT INTO test (uuid, open_test_uuid, client_uuid, loop_uuid, loop_test_counter, state, time,
            measurement_type_flag, signal, client_name, software_revision, client_ip, ip_registered, client_language,
            timezone, platform, os_version, model, device, client_software_version, registered, request_body)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          test.uuid, Self.newUUID(), client, test.loopUUID, test.loopCounter,
          request.signal ? "SIGNAL_STARTED" : "COVERAGE_STARTED", required.time, request.measurementType,
          request.signal, required.clientName, request.softwareRevision, peer.text, peer.text, request.clientLanguage,
          required.timezone, required.platform, request.osVersion, request.model, request.device,
          request.clientSoftwareVersion, Self.now(), request.body,
        ])
      return test
    }
  }

  /// The loop of a new test, and the test's number in it. The loop must belong to this client.
  private static func loop(
    _ uuid: String??, of client: String, in db: Database
  ) throws -> (uuid: String, counter: Int64) {
    guard let uuid else { return (newUUID(), 1) }
    let last =
      try uuid.flatMap {
        try Int64.fetchOne(
          db, sql: "SELECT max(loop_test_counter) FROM test WHERE loop_uuid = ? AND client_uuid = ?",
          arguments: [$0, client])
      }
    guard let uuid, let last else {
      throw Refusal.badRequest("No test with loop UUID found by id \(uuid ?? "null")")
    }
    let (counter, isFull) = last.addingReportingOverflow(1)
    guard !isFull else { throw Refusal.swallowed("loop \(uuid) has no number left") }
    return (uuid, counter)
  }
}

extension Endpoints {
  func coverageRequest(_ call: Call) async throws -> Answer {
    let request = try CoverageRequest(Fields(body: call.body), body: call.text)
    let test = try await store.register(request, peer: call.peer)
    let token = PingToken.base64(
      secret: options.secrets.first ?? "", unixSeconds: UInt32(clamping: Store.now() / 1000), peer: call.peer)
    return .json(
      [
        "client_remote_ip": .string(call.peer.text),
        "test_uuid": .string(test.uuid),
        "ping_token": .string(token),
        "ping_host": .string(call.peer.version == 4 ? options.pingHost : options.pingHostIPv6),
        "ping_port": .string(String(options.pingPort)),
        "ip_version": JSONValue(call.peer.version),
        "max_coverage_session_seconds": JSONValue(options.maxSessionSeconds),
        "max_coverage_measurement_seconds": JSONValue(options.maxMeasurementSeconds),
        "maxCoverageSessionSeconds": JSONValue(options.maxSessionSeconds),
        "loop_uuid": .string(test.loopUUID),
        "loop_test_counter": JSONValue(test.loopCounter),
      ], status: 201)
  }
}
