import Coverage
import Foundation
import TestSupport
import Testing

@testable import Submission

/// The bytes of requests on the wire.
struct RequestTests {
  private let device = Device(
    model: "probe-rpi5", device: "drive-probe", osVersion: "6.8", language: "en", timezone: "Europe/Vienna",
    softwareVersion: "1.0.0-beta.12", softwareVersionCode: 100, softwareRevision: "main-1a2b3c4")

  private func result(_ fences: [Fence], anchor: DriveTime = .seconds(16)) -> String {
    CoverageResult(clientUUID: "C", testUUID: "T", driveStarted: .sampleStart, anchor: anchor, fences: fences)
      .json(device).text
  }

  private func fence(in text: String) throws -> String {
    let start = try #require(text.range(of: "\"fences\":["))
    return String(text[start.upperBound...].dropLast(2))
  }

  @Test("when a fence is sent, then its numbers are rounded as the reference rounds them, without floating tails")
  func fence() throws {
    let fix = Fix(
      coordinate: Coordinate(latitude: 48.208_201_234_5, longitude: 16.373_812_3), accuracy: 4.249, altitude: 171.26,
      course: 87.4, speed: 13.4249)
    let sent = Fence.sample(
      entered: 10.2509, lasted: 4.1009, latitude: 48.208_201_234_5, longitude: 16.373_812_3, fix: fix, radius: 18.99,
      pings: 2, answered: 1, rttSumNanoseconds: 31_674_999)
    #expect(
      try fence(in: result([sent])) == """
        {"timestamp_microseconds":1795168810250900,"location":{"latitude":48.2082012345,"longitude":16.3738123,\
        "accuracy":4.2,"altitude":171.3,"bearing":87,"speed":13.42,"provider":"gps"},"technology":"4G/LTE",\
        "technology_id":13,"offset_ms":-5749,"duration_ms":4100,"radius":18,"avg_ping_ms":31.67}
        """)
  }

  @Test("when figures are unknown, then their keys are absent, and a missing technology is NONE")
  func unknownFigures() throws {
    let sent = Fence.sample(
      fix: Fix(coordinate: Coordinate(latitude: 48, longitude: 16), accuracy: 0), technology: nil, pings: 3,
      answered: 0, rttSumNanoseconds: 0)
    #expect(
      try fence(in: result([sent])) == """
        {"timestamp_microseconds":1795168810000000,"location":{"latitude":48.2082,"longitude":16.3738,"provider":"gps"},\
        "technology":"NONE","technology_id":1000,"offset_ms":-6000,"duration_ms":4000,"radius":20}
        """)
  }

  @Test("when the server does not know the technology, then both of its keys are absent")
  func unknownTechnology() throws {
    #expect(!(try fence(in: result([.sample(technology: "7G/XX")])).contains("technology")))
  }

  @Test("when a course rounds up to a full turn, then the bearing is 0")
  func fullTurn() throws {
    let fix = Fix(coordinate: Coordinate(latitude: 48, longitude: 16), course: 359.7)
    #expect(try fence(in: result([.sample(fix: fix)])).contains("\"bearing\":0,"))
  }

  @Test("when an offset is negative, then it is truncated towards zero")
  func negativeOffset() throws {
    #expect(try fence(in: result([.sample(entered: 1)], anchor: .seconds(1.0019))).contains("\"offset_ms\":-1,"))
  }

  @Test("when a fence is still open, then it is not sent")
  func openFence() throws {
    #expect(try fence(in: result([.sample(lasted: nil)])) == "")
  }

  @Test("when a result is sent, then it repeats the description of the device")
  func deviceFields() throws {
    let sent = try #require(
      try JSONSerialization.jsonObject(with: Data(result([]).utf8)) as? [String: Any])
    for (key, value) in [
      "test_uuid": "T", "client_uuid": "C", "platform": "Linux", "plattform": "Linux", "model": "probe-rpi5",
      "device": "drive-probe", "os_version": "6.8", "client_language": "en", "timezone": "Europe/Vienna",
      "client_version": "1.0.0-beta", "client_software_version": "1.0.0-beta.12", "client_name": "RMBT",
    ] {
      #expect(sent[key] as? String == value, "\(key)")
    }
  }

  @Test("when a test is requested, then the request has the time in whole milliseconds and the loop")
  func coverageRequest() throws {
    let request = CoverageRequest(
      clientUUID: "C", loopUUID: "L", time: WallTime(microseconds: 1_760_000_000_123_999))
    let text = request.json(device).text
    #expect(text.contains("\"time\":1760000000123,"))
    #expect(text.contains("\"loop_uuid\":\"L\""))
    #expect(text.contains("\"measurement_type_flag\":\"dedicated\""))
  }

  // MARK: Answers

  private func grant(_ changes: [String: Any?]) throws -> CoverageGrant {
    var answer: [String: Any] = [
      "test_uuid": "T", "ping_token": "aOd4ALM2UBOl/LOaoRW9UA==", "ping_host": "udp4.example.test",
      "ping_port": "444", "ip_version": 4, "max_coverage_session_seconds": 14400,
      "max_coverage_measurement_seconds": 3600, "loop_uuid": "L",
    ]
    for (key, value) in changes { answer[key] = value }
    return try CoverageGrant(JSONSerialization.data(withJSONObject: answer))
  }

  @Test("when the server grants a test, then every member is read")
  func grant() throws {
    let grant = try grant([:])
    #expect(grant.testUUID == "T")
    #expect(grant.loopUUID == "L")
    #expect(grant.pingToken.count == 16)
    #expect(grant.pingToken.prefix(4) == [0x68, 0xE7, 0x78, 0x00])
    #expect(grant.pingHost == "udp4.example.test")
    #expect(grant.pingPort == 444)
    #expect(grant.ipVersion == .ipv4)
    #expect(grant.maximumDrive == .seconds(14400))
    #expect(grant.maximumSession == .seconds(3600))
  }

  @Test(
    "when a member that pings need is missing or empty, then the answer is refused",
    arguments: ["test_uuid", "ping_token", "ping_host", "ping_port"])
  func uselessGrant(key: String) throws {
    #expect(throws: ServerFailure.self) { try grant([key: nil]) }
    #expect(throws: ServerFailure.self) { try grant([key: ""]) }
  }

  @Test("when the server sends numbers as text or a limit of 0, then the answer is read, and the limit is ignored")
  func tolerantGrant() throws {
    let grant = try grant([
      "ping_port": 4440, "ip_version": "6", "max_coverage_session_seconds": "60",
      "max_coverage_measurement_seconds": 0,
    ])
    #expect(grant.pingPort == 4440)
    #expect(grant.ipVersion == .ipv6)
    #expect(grant.maximumDrive == .seconds(60))
    #expect(grant.maximumSession == nil)
    #expect(grant.oddities == ["the control server's max_coverage_measurement_seconds is no limit: ignored"])
  }

  @Test("when a limit in seconds is plainly in milliseconds, then it is read as milliseconds, and this is reported")
  func millisecondLimits() throws {
    let grant = try grant(["max_coverage_session_seconds": 14_400_000, "max_coverage_measurement_seconds": 3600])
    #expect(grant.maximumDrive == .seconds(14400))
    #expect(grant.oddities.count == 1)
    #expect(grant.oddities.first?.contains("max_coverage_session_seconds is 14400000: read as milliseconds") == true)
  }

  @Test("when an answer is no plain success, then it is a failure of the right kind")
  func outcomes() throws {
    func outcome(_ status: Int, _ body: String) throws {
      _ = try ServerAnswer.body(status: status, retryAfter: .seconds(30), body: Data(body.utf8))
    }
    try outcome(200, "{}")
    try outcome(201, "{\"error\":[]}")
    #expect(throws: ServerFailure.notTheServer(status: 200, found: "an empty body")) { try outcome(200, "") }
    #expect(throws: ServerFailure.notTheServer(status: 200, found: "a body that begins with \"<html> hello\"")) {
      try outcome(200, "<html>\n hello")
    }
    #expect(throws: ServerFailure.notTheServer(status: 200, found: "a body that begins with \"[]\"")) {
      try outcome(200, "[]")
    }
    #expect(throws: ServerFailure.refused(status: 200, message: "no; way")) {
      try outcome(200, "{\"error\":[\"no\",\"way\"]}")
    }
    #expect(throws: ServerFailure.notTheServer(status: 302, found: "a redirect")) { try outcome(302, "") }
    #expect(throws: ServerFailure.refused(status: 400, message: "gone")) { try outcome(400, "{\"error\":[\"gone\"]}") }
    #expect(throws: ServerFailure.tooManyRequests(retryAfter: .seconds(30))) { try outcome(429, "") }
    #expect(throws: ServerFailure.serverTrouble(status: 503, message: "an empty body", retryAfter: .seconds(30))) {
      try outcome(503, "")
    }
  }

  @Test(
    "when the server echoes the client UUID or a token, in an error or in any text, then the failure does not repeat it",
    arguments: [
      (400, #"{"error":["No client found by id 0b1f7a52-0c56-4f4a-9d1e-5a3a4d1e9001"]}"#),
      (500, "client_uuid=0b1f7a52-0c56-4f4a-9d1e-5a3a4d1e9001"), (500, "xxx 0B1F7A52-0C56-4F4A-9D1E-5A3A4D1E9001"),
      (
        422,
        #"{"test_uuid":"T","client_uuid":"0b1f7a520c564f4a9d1e5a3a4d1e9001","uuid":"0b1f7a52-0c56-4f4a-9d1e-5a3a4d1e9001"}"#
      ),
      (200, "<p>This text is cut within the name: 0b1f7a52-0c56-4f4a-9d1e-5a3a4d1e9001"),
      (200, #"{"error":{"id":"0b1f7a52-0c56-4f4a-9d1e-5a3a4d1e9001"}}"#),
      (503, #"{"ping_token":"0b1f7a52/+AAAAAAAAAAAA==","x":1}"#), (503, "no 0b1f7a52/+AAAAAAAAAAAA== please"),
      (500, "token: 11112222-3333-4444-5555-666677778888_1700000000_0b1f7a52="),
    ])
  func discretion(status: Int, body: String) throws {
    let failure = #expect(throws: ServerFailure.self) {
      _ = try ServerAnswer.body(
        status: status, retryAfter: nil, body: Data(body.utf8), clientUUID: "0b1f7a52-0c56-4f4a-9d1e-5a3a4d1e9001")
    }
    let line = "\(try #require(failure))"
    #expect(!line.lowercased().contains("0b1f7a52"), "\(line)")
    #expect(line.contains("(this device's)") || line.contains("(hidden)"), "\(line)")
  }

  @Test("when a damaged store has absurd figures, then they are clamped to the range of the server")
  func absurdFigures() throws {
    let fix = Fix(coordinate: Coordinate(latitude: 48, longitude: 16), course: 1e300, speed: 1e308)
    let text = try fence(in: result([.sample(fix: fix, radius: 1e300)]))
    #expect(text.contains("\"radius\":2147483647"))
    #expect(try fence(in: result([.sample(radius: .nan)])).contains("\"radius\":0"))
  }
}
