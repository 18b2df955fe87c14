import Foundation

/// The body of POST /coverageResult with its types checked. What must not be missing is looked at when it is stored, as
/// the server does, so that an unknown client or test is told first.
struct CoverageResult: Sendable {
  /// The columns that a result overwrites in its test. A missing one becomes NULL.
  static let deviceKeys = [
    "client_version", "client_language", "timezone", "platform", "product", "api_level", "os_version", "model",
    "device", "client_software_version",
  ]

  let testUUID: String?
  let sequenceNumber: Int64?
  let clientUUID: String?
  let device: [String?]
  let networkType: Int32?
  let terminationCause: String?
  let fences: [FenceSubmission]
  let body: String

  init(_ fields: Fields, body: String) throws {
    testUUID = try fields.uuid("test_uuid")
    sequenceNumber = try fields.integer("sequence_number", as: Int64.self)
    clientUUID = try fields.uuid("client_uuid")
    device = try Self.deviceKeys.map { key in
      let text = try fields.string(key)
      return key == "client_version" ? text.map { String($0.prefix(10)) } : text
    }
    networkType = try fields.integer("network_type", as: Int32.self)
    terminationCause = try fields.string("termination_cause").map { String($0.prefix(100)) }
    fences = try (fields.array("fences") ?? []).map(FenceSubmission.init)
    self.body = body
    try Self.checkOtherTypes(fields)
    if let address = try fields.string("test_ip_local"), PeerAddress(address) == nil {
      throw Refusal.badRequest("'\(address)' is not an IP string literal.")
    }
  }

  /// The test to store the result in, or why there can be none.
  func requiredTest() throws -> String {
    if let testUUID { return testUUID }
    guard let sequenceNumber else { throw Refusal.swallowed("test_uuid and sequence_number are missing") }
    guard sequenceNumber == 0 else { throw Refusal.badRequest("ERROR_INVALID_SEQUENCE") }
    throw Refusal.badRequest("No started test found by id \(Store.newUUID())")
  }

  /// Members that the server reads, but that are of no use here: only their types count.
  private static func checkOtherTypes(_ fields: Fields) throws {
    for key in [
      "telephony_network_operator", "telephony_network_sim_operator", "telephony_network_country",
      "telephony_network_operator_name", "telephony_network_sim_operator_name", "telephony_network_sim_country",
      "telephony_apn", "wifi_ssid", "wifi_bssid", "wifi_network_id", "wifi_supplicant_state",
      "wifi_supplicant_state_detail", "test_status", "test_error_cause",
    ] { _ = try fields.string(key) }
    for key in ["telephony_phone_type", "telephony_data_state", "submission_retry_count"] {
      _ = try fields.integer(key, as: Int32.self)
    }
    for key in ["temperature", "apn"] { _ = try fields.number(key) }
    _ = try fields.bool("telephony_network_is_roaming")
    _ = try fields.fields("capabilitiesRequest")
    if let radio = try fields.fields("radioInfo") {
      _ = try radio.array("cells")
      _ = try radio.array("signals")
    }
    for key in ["cellLocations", "geoLocations", "android_permission_status"] { _ = try fields.array(key) }
  }
}

/// An element of `fences`.
struct FenceSubmission: Sendable {
  let location: Location?
  let technologyID: Int32?
  let technology: String?
  let offsetMilliseconds: Int32?
  let durationMilliseconds: Int32?
  let radius: Int32?
  let averagePing: Double?
  let signal: Double?
  /// The element as it came.
  let received: JSONValue

  struct Location: Sendable {
    let latitude, longitude, accuracy, altitude, bearing, speed: Double?
    let provider: String?
  }

  init(_ fields: Fields) throws {
    received = fields.json
    location = try fields.fields("location").map { place in
      Location(
        latitude: try place.number("latitude"), longitude: try place.number("longitude"),
        accuracy: try place.number("accuracy"), altitude: try place.number("altitude"),
        bearing: try place.number("bearing"), speed: try place.number("speed"),
        provider: try place.string("provider"))
    }
    technologyID = try fields.integer("technology_id", as: Int32.self)
    technology = try fields.string("technology")
    offsetMilliseconds = try fields.integer("offset_ms", as: Int32.self)
    durationMilliseconds = try fields.integer("duration_ms", as: Int32.self)
    radius = try fields.integer("radius", as: Int32.self)
    averagePing = try fields.number("avg_ping_ms")
    signal = try fields.number("signal")
  }

  /// The values whose columns are NOT NULL; `index` is the fence's place in the array.
  func required(_ index: Int) throws -> (latitude: Double, longitude: Double, offset: Int32, duration: Int32) {
    func missing(_ key: String) -> Refusal { .swallowed("fences[\(index)].\(key) is missing") }
    guard let location else { throw missing("location") }
    guard let latitude = location.latitude else { throw missing("location.latitude") }
    guard let longitude = location.longitude else { throw missing("location.longitude") }
    guard let offset = offsetMilliseconds else { throw missing("offset_ms") }
    guard let duration = durationMilliseconds else { throw missing("duration_ms") }
    for (key, text) in [("location.provider", location.provider), ("technology", technology)] {
      if let text, text.count > 50 { throw Refusal.swallowed("fences[\(index)].\(key) is longer than 50 characters") }
    }
    return (latitude, longitude, offset, duration)
  }
}

extension Endpoints {
  func coverageResult(_ call: Call) async throws -> Answer {
    let result = try CoverageResult(Fields(body: call.body), body: call.text)
    try await store.accept(result, peer: call.peer)
    return .json([:])
  }
}
