import Foundation

/// The body of POST /coverageResult with its types checked. Missing members are refused when it is stored, as on the real server, so
/// that an unknown client or test is reported first.
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
  let radio: RadioInfo
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
    radio = try RadioInfo(fields.fields("radioInfo"))
    try Self.checkOtherTypes(fields)
    try Columns.check(fields)
  }

  /// The test to which the result belongs.
  /// - Throws: The server's refusal when there is none.
  func requiredTest() throws -> String {
    if let testUUID { return testUUID }
    guard let sequenceNumber else { throw Refusal.swallowed("test_uuid and sequence_number are missing") }
    guard sequenceNumber == 0 else { throw Refusal.badRequest("ERROR_INVALID_SEQUENCE") }
    throw Refusal.badRequest("No started test found by id \(Store.newUUID())")
  }

  /// Checks the types of members that the real server reads and this one ignores.
  private static func checkOtherTypes(_ fields: Fields) throws {
    for key in ["wifi_supplicant_state", "wifi_supplicant_state_detail", "test_status", "test_error_cause"] {
      _ = try fields.string(key)
    }
    for key in ["temperature", "apn"] { _ = try fields.number(key) }
    _ = try fields.fields("capabilitiesRequest")
    for key in ["cellLocations", "geoLocations", "android_permission_status"] { _ = try fields.array(key) }
  }
}
