import Coverage
import Foundation
import TestSupport
import Testing

@testable import Submission

@Suite struct SpeedTestWireTests {
  private static let device = Device(
    model: "m", device: "d", osVersion: "1", language: "en", timezone: "Etc/UTC", softwareVersion: "1.0",
    softwareVersionCode: 1, softwareRevision: "r")

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  private func recorded(_ name: String) throws -> [String: Any] {
    try object(String(decoding: try Data(contentsOf: Surroundings.fixture("speedtest/\(name)")), as: UTF8.self))
  }

  private func result(_ change: (inout SpeedTestResult) -> Void = { _ in }) throws -> [String: Any] {
    var result = SpeedTestResult(
      clientUUID: "C", testUUID: "T", token: "a_1_b_#v2#c",
      submitted: .sampleStart.later(by: .seconds(30)), retries: 2, technology: Technology("4G/LTE"), figures: .sample())
    change(&result)
    return try object(result.json(Self.device).text)
  }

  // MARK: Requests

  @Test("when a result is composed, then it has every member that all recorded clients send, of the same kind")
  func members() throws {
    let ours = try result()
    let others = try ["cliC-result.json", "java-result.json", "pypi-result.json"].map(recorded)
    let common = others.map { Set($0.keys) }.reduce(Set(others[0].keys)) { $0.intersection($1) }
    #expect(common.count >= 12)
    for name in common {
      let mine = try #require(ours[name], "\(name) is missing")
      let theirs = try #require(others[0][name])
      #expect((mine is String) == (theirs is String) && (mine is [Any]) == (theirs is [Any]), "\(name)")
    }
    let (point, theirs) = (ours["speed_detail"] as? [[String: Any]], others[0]["speed_detail"] as? [[String: Any]])
    #expect(Set(try #require(point?.first).keys) == Set(try #require(theirs?.first).keys))
    let (ping, theirPing) = (ours["pings"] as? [[String: Any]], others[0]["pings"] as? [[String: Any]])
    #expect(Set(try #require(ping?.first).keys) == Set(try #require(theirPing?.first).keys))
  }

  @Test("when a result is composed, then figures have the server's units, and the token is the issued one")
  func figures() throws {
    let ours = try result()
    #expect(ours["test_token"] as? String == "a_1_b_#v2#c" && ours["test_uuid"] as? String == "T")
    #expect(ours["test_speed_download"] as? Int == 47_800 && ours["test_nsec_upload"] as? Int == 7_000_000_000)
    #expect(ours["test_ping_shortest"] as? Int == 20_500_000, "the client's minimum")
    #expect(ours["client_version"] as? String == "1.3.5", "the version of the measurement server's greeting")
    #expect(ours["test_encryption"] as? String == "NONE" && ours["test_port_remote"] as? Int == 443)
    #expect(ours["test_submission_retry_count"] as? Int == 2 && ours["test_status"] as? String == "0")
    #expect(ours["test_total_bytes_download"] as? Int == 50_000_000)
    #expect(ours["telephony_network_operator"] as? String == "232-01")
    #expect(ours["test_num_threads"] as? Int == 3 && ours["num_threads_ul"] as? Int == 3)
    let details = try #require(ours["speed_detail"] as? [[String: Any]])
    #expect(details.count == 12 && Set(details.compactMap { $0["thread"] as? Int }) == [0, 1, 2])
  }

  @Test(
    "when a link carried the test, then the network type is that of the apps, whatever the modem says",
    arguments: [
      ([.wifi], 99, 99), ([.ethernet], 106, 106), ([.vpn], 108, 108), ([.other], 98, 98), ([.cellular], 41, 0),
      ([.loopback], 41, 98), ([.cellular, .wifi], 98, 98), ([.wifi, .wifi], 99, 99), ([.cellular, .cellular], 0, 0),
      ([], 41, 98), (nil, 41, 98),
    ] as [([SpeedTestLink.Kind]?, Int, Int)])
  func networkType(kinds: [SpeedTestLink.Kind]?, known: Int, unknown: Int) throws {
    let links = kinds?.enumerated().map { SpeedTestLink(kind: $1, interface: "link\($0)", since: Int64($0)) }
    for technology in [nil, Technology.none, Technology("6G/X"), Technology("5G/NRNSA")] {
      let type =
        try result {
          ($0.technology, $0.figures.links) = (technology, links)
        }["network_type"] as? Int
      #expect(type == (technology?.name == "5G/NRNSA" ? known : unknown))
    }
  }

  @Test("when one Wi-Fi network carried the test, then the result has its name, cut to the server's column")
  func network() throws {
    func ssid(_ names: String?...) throws -> String? {
      let links = names.map { SpeedTestLink(kind: .wifi, interface: "wlan0", ssid: $0) }
      return try result { $0.figures.links = links }["wifi_ssid"] as? String
    }
    #expect(
      try ssid("Depot \u{2603}\0") == "Depot \u{2603}" && ssid(String(repeating: "\u{FFFD}", count: 300))?.count == 200)
    #expect(try ssid("Depot", "Depot") == "Depot" && ssid("Depot", "Fleet") == nil && ssid(nil) == nil)
  }

  @Test("when a modem gets another address within a test, then the technology stays that of the modem")
  func newAddress() throws {
    let links = ["10.0.0.1", "10.0.0.2"].map { SpeedTestLink(kind: .cellular, interface: "wwan0", address: $0) }
    #expect(try result { $0.figures.links = links }["network_type"] as? Int == 13)
  }

  @Test("when the modem reported a cell and a SIM, then the result has them, and where the test ended")
  func radio() throws {
    let ours = try result {
      $0.testUUID = "2d0f1c8e-0000-4000-8000-000000000000"
      ($0.technology, $0.figures.cell) = (Technology("5G/NRNSA"), .sample(7))
      $0.figures.signal = -95.4
      $0.figures.environment = RadioEnvironment(.sample)
      (($0.figures.simOperatorCode), $0.figures.localAddress) = ("23201", "fe80::1%wwan0")
    }
    let info = try #require(ours["radioInfo"] as? [String: [[String: Any]]])
    #expect(info["cells"]?.map { $0["location_id"] as? Int } == [7, nil, 7])
    #expect(info["cells"]?.map { $0["registered"] as? Bool } == [true, true, false])
    #expect(info["signals"]?.map { $0["lte_rsrp"] as? Int } == [-95, -102], "the 5G cell has no level of its own")
    let end = (ours["time_ul_ns"] as? Int ?? 0) + (ours["test_nsec_upload"] as? Int ?? 0)
    #expect(end > 0 && info["signals"]?.map { $0["time_ns"] as? Int } == [end, end], "the level was read at the end")
    #expect(
      ours["telephony_network_sim_operator"] as? String == "232-01" && ours["test_ip_local"] as? String == "fe80::1")
    #expect(ours["last_client_status"] as? String == "END" && ours["last_qos_status"] == nil)
    #expect(try result { $0.hasQoS = true }["last_qos_status"] as? String == "QOS_END")
  }

  @Test("when a stored curve is damaged, then its damaged points are left out, without a crash")
  func damagedCurve() throws {
    let details =
      try result {
        $0.figures.download = SpeedTestRate(
          kilobitsPerSecond: 1, bytes: 1, nanoseconds: 1, began: 0, connections: 1,
          curves: [[[], [1], [1, 2, 3], [5, 6]]])
        $0.figures.upload = nil
      }["speed_detail"] as? [[String: Any]]
    #expect(details?.count == 1 && details?.first?["bytes"] as? Int == 6)
  }

  @Test("when a test is requested, then it has every member that the recorded clients send")
  func request() throws {
    var request = SpeedTestRequest(clientUUID: "C", time: .sampleStart)
    let fix = Fix(coordinate: Coordinate(latitude: 48.2, longitude: 16.3), accuracy: 5, speed: 13.4)
    request.place = SpeedTestPlace(fix, at: .sampleStart.later(by: .seconds(-2)), offset: 0)
    let ours = try object(request.json(Self.device).text)
    for file in ["java-testRequest.json", "cliC-testRequest.json"] {
      #expect(Set(try recorded(file).keys).subtracting(ours.keys).isEmpty, "\(file)")
    }
    #expect(ours["measurement_type_flag"] as? String == "regular" && ours["loopmode_info"] == nil)
    #expect(ours["user_loop_mode"] as? Bool == false)
    let location = try #require(ours["location"] as? [String: Any])
    #expect(location["lat"] as? Double == 48.2 && location["age"] as? Int == 2000)
    #expect((ours["capabilities"] as? [String: Any])?["RMBThttp"] as? Bool == true)
  }

  @Test("when a test belongs to a loop, then its number, limits and UUID are sent unchanged (edge 38)")
  func loop() throws {
    var request = SpeedTestRequest(clientUUID: "C", time: .sampleStart)
    request.loop = .init(uuid: "Labc", number: 3, count: 50, every: .seconds(900), distance: 250)
    let ours = try object(request.json(Self.device).text)
    let info = try #require(ours["loopmode_info"] as? [String: Any])
    #expect(ours["user_loop_mode"] as? Bool == true)
    #expect(info["loop_uuid"] as? String == "Labc" && info["test_counter"] as? Int == 3)
    #expect(info["max_delay"] as? Int == 15 && info["max_movement"] as? Int == 250 && info["max_tests"] as? Int == 50)
    request.loop = .init(uuid: nil, number: 1, count: 1, every: nil, distance: .infinity)
    let first = try #require(try object(request.json(Self.device).text)["loopmode_info"] as? [String: Any])
    #expect(first["loop_uuid"] == nil, "the server names the loop")
  }

  // MARK: The server's answer

  private func grant(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> SpeedTestGrant {
    var oddities: [String] = []
    return try SpeedTestGrant(try answer(change), &oddities)
  }

  private func oddities(_ change: (inout [String: Any]) -> Void) throws -> [String] {
    var oddities: [String] = []
    _ = try SpeedTestGrant(try answer(change), &oddities)
    return oddities
  }

  private func answer(_ change: (inout [String: Any]) -> Void) throws -> Data {
    var answer: [String: Any] = [
      "test_token": "a_1_b_#v2#c==", "test_uuid": "T", "open_test_uuid": "OT", "test_server_address": "host.example",
      "test_server_port": 443, "test_server_encryption": true, "test_server_type": "RMBThttp",
      "test_server_name": "A", "test_duration": "7", "test_numthreads": "3", "test_numpings": "10", "test_wait": 0,
      "client_remote_ip": "192.0.2.7", "loop_uuid": "Labc", "error": [String](),
    ]
    change(&answer)
    return try JSONSerialization.data(withJSONObject: answer)
  }

  @Test("when members that the test does not need are no texts, then it runs without them")
  func oddMembers() throws {
    let names = ["test_server_name", "client_remote_ip", "loop_uuid"]
    func beNumbers(_ answer: inout [String: Any]) { for name in names { answer[name] = 5 } }
    let grant = try grant(beNumbers)
    #expect((grant.name, grant.remoteAddress, grant.loopUUID) == (nil, nil, nil))
    #expect(grant.testUUID == "T")
    #expect(try oddities(beNumbers) == names.map { "the control server's \($0) is no text: ignored" })
  }

  @Test("when members are out of their range, then others stand in their place, and a line says so for each")
  func impossibleMembers() throws {
    func change(_ answer: inout [String: Any]) {
      (answer["test_duration"], answer["test_numpings"], answer["test_server_encryption"]) = (45, "many", "perhaps")
      answer["test_wait"] = nil
    }
    let grant = try grant(change)
    #expect((grant.seconds, grant.pings, grant.isEncrypted) == (7, 10, false))
    #expect(
      try oddities(change) == [
        "the control server's test_server_encryption is neither true nor false: no TLS",
        "the control server's test_duration is not within 1 to 30: 7 in its place",
        "the control server's test_numpings is not within 1 to 200: 10 in its place",
      ])
  }

  @Test("when the server is one for WebSockets, then the test begins with an HTTP upgrade, which such servers take too")
  func webSockets() throws {
    #expect(try grant { $0["test_server_type"] = "RMBTws" }.kind == .http)
  }

  @Test(
    "when the server has made a test that cannot run, then the answer has its identifier; without one, it is a failure")
  func closable() throws {
    let flaws: [(String, Any)] = [
      ("test_server_type", "RMBTudp"), ("test_server_port", "0"), ("test_token", ""), ("test_server_address", 5),
    ]
    for (name, value) in flaws {
      guard case .unusable("T", let failure) = try SpeedTestAnswer(try answer { $0[name] = value }) else {
        Issue.record("\(name) is accepted")
        continue
      }
      #expect("\(failure)".contains("cannot be used"))
    }
    for uuid in ["", "a b", 5] as [Any] {
      #expect(throws: ServerFailure.self) {
        try SpeedTestAnswer(try answer { ($0["test_server_type"], $0["test_uuid"]) = ("RMBTudp", uuid) })
      }
    }
    guard case .granted = try SpeedTestAnswer(try answer { _ in }) else { throw ServerFailure.unusableAnswer("") }
  }

  @Test("edge 34: when numbers come as text, text comes as numbers, or members are missing, then the grant is read")
  func mixedTypes() throws {
    let usual = try grant()
    #expect(usual.token == "a_1_b_#v2#c==" && usual.server.port == 443 && usual.isEncrypted && usual.kind == .http)
    #expect(usual.seconds == 7 && usual.threads == 3 && usual.pings == 10 && usual.wait == .zero)
    let other = try grant {
      $0["test_server_port"] = "5231"
      $0["test_server_encryption"] = "false"
      $0["test_duration"] = 5
      $0["test_wait"] = "2"
      for name in ["provider", "loop_uuid", "open_test_uuid", "test_server_name", "client_remote_ip"] { $0[name] = nil }
      $0["test_server_type"] = "RMBT"
    }
    #expect(other.server.port == 5231 && !other.isEncrypted && other.kind == .native && other.seconds == 5)
    #expect(other.wait == .seconds(2) && other.loopUUID == nil && other.name == nil)
  }

  @Test(
    "when a number is impossible, then the default of docs/protocol.md, 6.1, is used",
    arguments: ["test_duration", "test_numthreads", "test_numpings", "test_wait"],
    ["0", "-3", "99999999999999999999", "x"])
  func impossible(name: String, value: String) throws {
    let grant = try grant { $0[name] = value }
    #expect(grant.seconds == 7 && grant.threads == 3 && grant.pings == 10 && grant.wait == .zero)
  }

  @Test(
    "when a required value is missing or wrong, then the answer is unusable, and the failure names the value",
    arguments: [
      ("test_token", ""), ("test_token", "a b"), ("test_token", String(repeating: "x", count: 1001)), ("test_uuid", ""),
      ("test_server_address", "a\nb"), ("test_server_port", "0"), ("test_server_port", "70000"),
      ("test_server_type", "RMBTudp"),
    ])
  func unusable(name: String, value: String) throws {
    do {
      _ = try grant { $0[name] = value }
      Issue.record("accepted")
    } catch let failure as ServerFailure {
      #expect("\(failure)".contains(name))
    }
  }

  @Test("when the results of QoS tests are composed, then the token equals the issued one byte by byte (edge 40)")
  func qos() throws {
    let body = QoSSubmission(
      clientUUID: "C", token: "a_1_b+/=_#v2#c", submitted: .sampleStart, results: #"[{"qos_test_uid":5}]"#
    ).text(Self.device)
    #expect(body.contains(#""test_token":"a_1_b+/=_#v2#c""#))
    #expect((try object(body)["qos_result"] as? [[String: Any]])?.first?["qos_test_uid"] as? Int == 5)
    let theirs = try recorded("java-resultQoS.json")
    #expect(Set(theirs.keys).subtracting(try object(body).keys).isEmpty)
  }
}
