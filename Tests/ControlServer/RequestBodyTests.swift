import Coverage
import Foundation
import TestSupport
import Testing

@testable import ControlServer

/// The members of each request's body (docs/protocol.md, 3.2 to 3.6).
struct RequestBodyTests {
  private let device = Device(
    model: "probe-rpi5", device: "drive-probe", osVersion: "6.8", language: "de", timezone: "Europe/Vienna",
    softwareVersion: "2.1", softwareVersionCode: 201, softwareRevision: "main-1a2b3c4")

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("when a device registers, then its UUID is empty the first time, and the known one afterwards")
  func settings() throws {
    let first = try object(SettingsRequest(clientUUID: nil, device: device).json.text)
    #expect(first["uuid"] as? String == "")
    #expect(first["terms_and_conditions_accepted"] as? Bool == true)
    #expect(first["terms_and_conditions_accepted_version"] as? Int == 6)
    let second = try object(SettingsRequest(clientUUID: "C", device: device).json.text)
    #expect(second["uuid"] as? String == "C")
  }

  @Test("when a drive begins, then its request has no loop, and the client UUID twice")
  func firstOfADrive() throws {
    let request = CoverageRequest(clientUUID: "C", loopUUID: nil, time: .sampleStart)
    let sent = try object(request.json(device).text)
    #expect(sent["loop_uuid"] == nil)
    #expect((sent["client_uuid"] as? String, sent["uuid"] as? String) == ("C", "C"))
  }

  @Test("when any request is sent, then it describes the device and this program")
  func members() throws {
    let sent = try object(SettingsRequest(clientUUID: nil, device: device).json.text)
    for (key, value) in [
      "type": "MOBILE", "name": "RMBT", "client": "RMBT", "version": "0.3", "product": "coverage-probe",
      "language": "de", "client_language": "de", "softwareVersion": "2.1", "client_software_version": "2.1",
      "client_version": "2.1", "softwareRevision": "main-1a2b3c4",
    ] {
      #expect(sent[key] as? String == value, "\(key)")
    }
    #expect(sent["softwareVersionCode"] as? Int == 201)
    let capabilities = try #require(sent["capabilities"] as? [String: Any])
    #expect((capabilities["classification"] as? [String: Int]) == ["count": 4])
    #expect((capabilities["qos"] as? [String: Bool]) == ["supports_info": true])
    #expect(capabilities["RMBThttp"] as? Bool == true)
  }

  private func fences(_ fences: [Fence]) throws -> [[String: Any]] {
    let result = CoverageResult(
      clientUUID: "C", testUUID: "T", driveStarted: .sampleStart, anchor: .seconds(10), fences: fences)
    return try #require(try object(result.json(device).text)["fences"] as? [[String: Any]])
  }

  @Test("when a fence has a modem report, then its signal is the lowest of its technology; other fences have no signal")
  func signal() throws {
    let sent = try fences([.sample(radio: .sample), .sample(), .sample(technology: "3G/UMTS", radio: .sample)])
    #expect(sent.map { $0["signal"] as? Double } == [-111.5, nil, nil])
    #expect(sent[0].keys.sorted() == (Array(sent[1].keys) + ["signal"]).sorted(), "nothing else of it is sent")
  }

  /// The members of a result about the network.
  private func network(_ fences: [Fence]) throws -> [String: String] {
    let result = CoverageResult(
      clientUUID: "C", testUUID: "T", driveStarted: .sampleStart, anchor: .seconds(10), fences: fences)
    let members = try object(result.json(device).text)
    return members.filter { $0.key.hasPrefix("telephony") || $0.key == "network_type" }.mapValues { "\($0)" }
  }

  @Test("when fences have reports of the modem, then the result has the network of the last one, and any roaming")
  func network() throws {
    var abroad = FenceRadio.sample
    (abroad.operatorCode, abroad.operatorName, abroad.isRoaming) = ("310260", String(repeating: "N", count: 60), false)
    let sent = try network([.sample(radio: .sample), .sample(technology: "5G/NR", radio: abroad), .sample()])
    #expect(
      sent == [
        "network_type": "20", "telephony_network_operator": "310-260",
        "telephony_network_operator_name": String(repeating: "N", count: 50), "telephony_network_is_roaming": "1",
      ])
    #expect(try network([.sample(), .sample(isSubmittable: true)]).isEmpty, "no modem, no network")
  }

  @Test(
    "when a modem reports an invalid operator code, then the code is left out",
    arguments: ["", "1234", "1234567", "23x01", "２３２０１"])
  func badOperator(code: String) throws {
    var radio = FenceRadio.sample
    (radio.operatorCode, radio.operatorName) = (code, nil)
    #expect(try network([.sample(radio: radio)]).keys.sorted() == ["network_type", "telephony_network_is_roaming"])
  }

  @Test("when fences are sent, then they stay in order of entry, and an open one between them is left out")
  func order() throws {
    let sent = try fences([.sample(entered: 12), .sample(entered: 16, lasted: nil), .sample(entered: 20)])
    #expect(sent.compactMap { $0["offset_ms"] as? Int } == [2000, 10_000])
    #expect(sent.compactMap { $0["duration_ms"] as? Int } == [4000, 4000])
  }

  @Test(
    "when a mean round trip is rounded, then half of a hundredth rounds up; without an answered ping there is no mean",
    arguments: [
      (1, 4_999, 0.0), (1, 5_000, 0.01), (2, 31_680_000, 15.84), (2, 31_690_000, 15.85), (0, 0, nil),
      (1, Int64.max, 9_223_372_036_854.77),
    ] as [(Int, Int64, Double?)])
  func mean(answered: Int, sum: Int64, expected: Double?) throws {
    let sent = try fences([.sample(answered: answered, rttSumNanoseconds: sum)])
    #expect(sent[0]["avg_ping_ms"] as? Double == expected)
  }

  @Test(
    "when the accuracy of a fix is unknown or not positive, then it is absent: 0 would mean a perfect fix",
    arguments: [(nil, nil), (0, nil), (-3, nil), (0.05, 0.1), (12.34, 12.3), (.nan, nil), (.infinity, nil)]
      as [(Double?, Double?)])
  func accuracy(accuracy: Double?, expected: Double?) throws {
    let fix = Fix(coordinate: Coordinate(latitude: 48, longitude: 16), accuracy: accuracy, speed: accuracy)
    let location = try #require(try fences([.sample(fix: fix)])[0]["location"] as? [String: Any])
    #expect(location["accuracy"] as? Double == expected)
    #expect(location["provider"] as? String == "gps")
    #expect(location["altitude"] == nil && location["bearing"] == nil)
  }
}
