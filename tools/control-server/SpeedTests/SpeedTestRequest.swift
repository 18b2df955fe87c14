import Foundation

/// The body of POST /testRequest.
struct SpeedTestRequest: Sendable {
  static let types: Set<String> = ["DESKTOP", "MOBILE"]

  let clientUUID: String?
  let client: String?
  let type: String?
  let timezone: String?
  let knowsHTTP: Bool
  let threads: Int64?
  let measurementType: String?
  let loop: LoopModeInfo?
  let body: String

  init(_ fields: Fields, body: String) throws {
    clientUUID = try fields.uuid("uuid", afterLetter: "U")
    client = try fields.string("client")
    type = try fields.string("type")
    timezone = try fields.string("timezone")
    knowsHTTP = try fields.fields("capabilities")?.bool("RMBThttp") ?? false
    threads = try fields.integerOrText("num_threads")
    measurementType = try fields.string("measurement_type_flag")
    if let measurementType, !CoverageRequest.measurementTypes.contains(measurementType) {
      throw Refusal.format("unknown measurement_type_flag \(measurementType)")
    }
    loop = try fields.fields("loopmode_info").map(LoopModeInfo.init)
    try Columns.check(fields)
    self.body = body
  }

  /// Checks what the server checks after the client's UUID.
  /// - Returns: The time zone.
  func checked() throws -> String {
    guard let client, Endpoints.clientNames.contains(client) else {
      throw Refusal.listed("unknown client \(client ?? "null")")
    }
    guard let type, Self.types.contains(type) else { throw Refusal.listed("unknown client type \(type ?? "null")") }
    guard let timezone, TimeZoneRule.accepts(timezone) else {
      throw Refusal.listed("unknown timezone \(timezone ?? "null")")
    }
    return timezone
  }

  /// The server for the test, if the client knows its protocol.
  func server(of options: ServerOptions) throws -> MeasurementServer {
    guard let server = options.measurement, server.type == .native || knowsHTTP else {
      throw Refusal.listed("no measurement server for this client")
    }
    return server
  }

  /// The number of connections: the client's number if it is valid.
  func threads(of server: MeasurementServer) -> String {
    guard let threads, (1...9).contains(threads) else { return String(server.testThreads) }
    return String(threads)
  }
}
