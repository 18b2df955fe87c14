/// The body of POST /result, with its types checked.
struct SpeedResult: Sendable {
  /// The figures that the server requires.
  struct Figures: Sendable {
    let speedDownload, speedUpload, pingShortest, networkType: Int64
  }

  /// Speeds in kbit/s and pings in nanoseconds lie between 0 and these.
  static let speedLimit: Int64 = 800_000_000
  static let pingLimit: Int64 = 60_000_000_000

  let test: String?
  /// The server forgets the result of a test that failed.
  let isFailed: Bool
  let radio: RadioInfo
  let body: String
  private let timezone: String?
  private let speedDownload, speedUpload, pingShortest, networkType: Int64?

  init(_ fields: Fields, body: String) throws {
    test = try fields.string("test_token").flatMap(SpeedTestToken.uuid(in:))
    isFailed = try fields.textOrInteger("test_status") == "1"
    timezone = try fields.string("timezone")
    speedDownload = try fields.integerOrText("test_speed_download")
    speedUpload = try fields.integerOrText("test_speed_upload")
    pingShortest = try fields.integerOrText("test_ping_shortest")
    networkType = try fields.integerOrText("network_type")
    radio = try RadioInfo(fields.fields("radioInfo"))
    try Columns.check(fields)
    self.body = body
  }

  /// - Throws: A 400 for the first figure that the server refuses.
  func figures() throws -> Figures {
    func inside(_ key: String, _ value: Int64?, below limit: Int64) throws -> Int64 {
      guard let value, value > 0, value < limit else {
        throw Refusal.badRequest("invalid \(key) \(value.map(String.init) ?? "null")")
      }
      return value
    }
    guard let networkType, networkType >= 0 else {
      throw Refusal.badRequest("invalid network_type \(networkType.map(String.init) ?? "null")")
    }
    if let timezone, !TimeZoneRule.accepts(timezone) { throw Refusal.badRequest("unknown timezone \(timezone)") }
    return Figures(
      speedDownload: try inside("test_speed_download", speedDownload, below: Self.speedLimit),
      speedUpload: try inside("test_speed_upload", speedUpload, below: Self.speedLimit),
      pingShortest: try inside("test_ping_shortest", pingShortest, below: Self.pingLimit), networkType: networkType)
  }
}
