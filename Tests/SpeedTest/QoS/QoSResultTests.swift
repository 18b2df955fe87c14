import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import SpeedTest

/// The members of results against those that the reference client sent (java-resultQoS.json).
@Suite struct QoSResultTests {
  private static func fixture() throws -> [[String: Any]] {
    let data = try Data(contentsOf: Surroundings.fixture("speedtest/java-resultQoS.json"))
    let body = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    return try #require(body["qos_result"] as? [[String: Any]])
  }

  /// The objective from which the reference client made a result: its `X_objective_Y`, as texts.
  private static func parameters(_ result: [String: Any], _ prefix: String) -> QoSParameters {
    var values: [String: String] = [:]
    for (key, value) in result where key.hasPrefix(prefix) && !(value is NSNull) {
      values[String(key.dropFirst(prefix.count))] = "\(value)"
    }
    return QoSParameters(values)
  }

  private static func names(_ members: [JSON.Member]) -> Set<String> { Set(members.map(\.key)) }

  /// The members of each entry of a body beside the test's own.
  private static let common: Set = ["qos_test_uid", "test_type", "start_time_ns", "duration_ns"]

  private func result(_ uid: Int) throws -> [String: Any] {
    try #require(try Self.fixture().first { $0["qos_test_uid"] as? Int == uid })
  }

  /// Compares names and objective values with the reference client's.
  private func compare<Test: QoSTest>(
    _ uid: Int, prefix: String, _ make: (QoSParameters) -> Test, _ finding: Test.Finding
  ) throws {
    let reference = try result(uid)
    let test = make(Self.parameters(reference, prefix))
    let members = test.objective + test.members(finding)
    #expect(Self.names(members) == Set(reference.keys).subtracting(Self.common))
    #expect(members.count == Self.names(members).count)
    for member in test.objective {
      let value = try #require(reference[member.key])
      switch member.value {
      case .integer(let number): #expect((value as? NSNumber)?.int64Value == number, "\(member.key)")
      case .string(let text): #expect(value as? String == text, "\(member.key)")
      default: #expect(value is NSNull, "\(member.key)")
      }
    }
    // A failed test has no member that the reference client lacks.
    #expect(Self.names(test.failed(.timeout).members).isSubset(of: Set(reference.keys)))
  }

  @Test("When TCP results are written, then their members are those of the reference client, out and in")
  func tcp() throws {
    let reach = TCPTest.Reach(status: .ok, response: "PING")
    try compare(1, prefix: "tcp_objective_", { TCPTest($0) }, TCPTest.Finding(out: reach))
    try compare(2, prefix: "tcp_objective_", { TCPTest($0) }, TCPTest.Finding(back: reach))
  }

  @Test("When UDP results are written, then their members are those of the reference client, out and in")
  func udp() throws {
    let figures = UDPFigures(received: 6, answered: 6, wanted: 6, roundTrips: [0: 1])
    try compare(3, prefix: "udp_objective_", { UDPTest($0) }, UDPTest.Finding(out: figures))
    try compare(4, prefix: "udp_objective_", { UDPTest($0) }, UDPTest.Finding(back: figures))
  }

  @Test("When UDP figures are computed from the reference client's values, then they are the reference client's")
  func udpFigures() throws {
    let reference = try result(3)
    let trips: [Int64] = [18_515_782, 6_708_263, 1_954_325, 901_674, 2_168_827, 5_541_921]
    let figures = UDPFigures(
      received: 6, answered: 6, wanted: 6,
      roundTrips: Dictionary(uniqueKeysWithValues: trips.enumerated().map { (Int64($0.offset), $0.element) }))
    #expect(reference["udp_result_out_rtts_ns"] as? String == figures.roundTripText)
    #expect((reference["udp_result_out_rtt_avg_ns"] as? NSNumber)?.int64Value == figures.meanRoundTrip)
    #expect(reference["udp_result_out_packet_loss_rate"] as? String == "\(figures.lossPercent)")
  }

  @Test("When proxy results are written, then their members are those of the reference client")
  func proxy() throws {
    try compare(
      5, prefix: "nontransproxy_objective_", { ProxyTest($0) },
      ProxyTest.Finding(response: "GET / HTTR/7.9", isUnchanged: true))
  }

  @Test("When a proxy changes the line in any way, then the result is ERROR and has the changed line")
  func comparison() {
    let test = ProxyTest(QoSParameters(["request": "GET / HTTR/7.9", "port": "54515"]))
    #expect(test.status(test.compare("GET / HTTR/7.9")) == .ok)
    for line in ["GET / HTTP/1.1", "get / httr/7.9", "GET / HTTR/7.9 ", "", "HTTP/1.1 400 Bad Request"] {
      #expect(test.status(test.compare(line)) == .error)
      #expect(test.members(test.compare(line)).contains { $0.value == .string(line) })
    }
    #expect(ProxyTest(QoSParameters(["request": "GET /\nEVIL"])).request == "GET /")
  }

  @Test("When call results are written, then their members are those of the reference client")
  func voip() throws {
    try compare(
      6, prefix: "voip_objective_", { VoIPTest($0) },
      VoIPTest.Finding(
        out: try #require(RTPFigures(reply: "VOIPRESULT 4302754 2568062 13879511 -165694277 100 0 100 100 0 0")),
        back: RTPFigures()))
  }

  @Test("When DNS results are written, then those that failed have the reference client's members")
  func dns() throws {
    let reference = try result(7)
    let test = DNSTest(Self.parameters(reference, "dns_objective_"))
    let (_, members) = test.failed(.error)
    let missing = Set(reference.keys).subtracting(Self.common).subtracting(Self.names(members))
    // A test without a finding has no duration of its own.
    #expect(missing == ["dns_result_duration"])
    #expect(Self.names(members).isSubset(of: Set(reference.keys)))
    for member in members {
      switch member.value {
      case .null: #expect(reference[member.key] is NSNull)
      case .string(let text): #expect(reference[member.key] as? String == text)
      case .integer(let number): #expect((reference[member.key] as? NSNumber)?.int64Value == number)
      default: Issue.record("\(member.key)")
      }
    }
  }

  @Test("When HTTP results are written, then their members are those of the reference client")
  func http() throws {
    try compare(
      8, prefix: "http_objective_", { PageTest(proxy: $0) },
      PageTest.Finding(page: FetchedPage(status: 200, header: "", length: 13, hash: ""), duration: 1))
  }

  @Test(
    "Edge 40: when the results are written, then the token is the issued one, byte for byte, and entries have uid and type"
  )
  func body() throws {
    let issued =
      "3b1f27a0-cbb0-4054-b967-070f8045f891_1795220163_T8Xabc+TiY2DNmFD5YP6moVw9gw=_#v2#ZVPxAJsOlLhT1mEBVYDHNw=="
    let outcome = QoSOutcome(
      token: try MeasurementToken(issued),
      results: [
        QoSResult(
          uid: 5, kind: .nonTransparentProxy, status: .ok, start: 987_504_989, duration: 53_284_579,
          members: [JSON.Member("nontransproxy_result", "OK")])
      ])
    #expect(
      JSON.object(outcome.members).text
        == #"{"test_token":"\#(issued)","qos_result":[{"qos_test_uid":5,"test_type":"non_transparent_proxy","#
        + #""start_time_ns":987504989,"duration_ns":53284579,"nontransproxy_result":"OK"}]}"#)
  }

  @Test("When an entry of each type is written, then its type is the control server's name for it")
  func types() {
    #expect(
      QoSTestKind.allCases.map(\.rawValue) == [
        "tcp", "udp", "voip", "non_transparent_proxy", "http_proxy", "dns", "website", "traceroute",
        "traceroute_masked",
      ])
    #expect(QoSTestKind.allCases.filter(\.needsServer) == [.tcp, .udp, .voip, .nonTransparentProxy])
  }
}
