import Foundation
import OrderedJSON
import Testing

@testable import SpeedTest

@Suite struct QoSObjectivesTests {
  private func objectives(_ text: String) throws -> QoSObjectives { try QoSObjectives(Data(text.utf8)) }

  /// A control server's answer: all values are texts (docs/protocol.md, 6.4).
  static let answer = #"""
    {"test_token":"t","objectives":{
      "tcp":[{"qos_test_uid":"2","concurrency_group":"200","server_addr":"q.example","server_port":"443",
              "in_port":"20103","timeout":"5000000000"},
             {"qos_test_uid":"1","concurrency_group":"200","server_addr":"q.example","server_port":"443",
              "out_port":"20102","timeout":"5000000000"}],
      "dns":[{"qos_test_uid":"7","concurrency_group":"10","host":"a.example","record":"A"}],
      "sip":[{"qos_test_uid":"90"},{"qos_test_uid":"91"}]},
     "error":[]}
    """#

  @Test("When objectives come as texts, then tests stand in groups by ascending number, and unknown types are left out")
  func texts() throws {
    let objectives = try objectives(Self.answer)
    #expect(objectives.groups.map { $0.map(\.uid) } == [[7], [1, 2]])
    #expect(objectives.all.map(\.kind) == [.dns, .tcp, .tcp])
    let tcp = try #require(objectives.all.last)
    #expect(tcp.server?.host == "q.example" && tcp.server?.port == 443)
    #expect(objectives.all[0].server == nil)
  }

  @Test("When the same values come as numbers, then they mean the same (edge 34)")
  func numbers() throws {
    let text = Self.answer.replacing(/"(\d+)"/) { "\($0.output.1)" }
    #expect(text.contains(#""timeout":5000000000"#))
    #expect(try objectives(text) == objectives(Self.answer))
  }

  @Test(
    "When a number is invalid, then the test ignores it, and nothing traps",
    arguments: [
      "1e400", "-1", "99999999999999999999", "1.5", "NaN", "", " ", "0x10", "١٢", "9223372036854775808",
      "-9223372036854775809", "65536",
    ])
  func impossiblePorts(text: String) {
    let parameters = QoSParameters(["server_port": text, "server_addr": "a", "out_port": text, "timeout": text])
    #expect(parameters.port("out_port") == nil)
    #expect(QoSServer(parameters) == nil)
    #expect((100_000_000...60_000_000_000).contains(parameters.time("timeout", standard: 5_000_000_000)))
  }

  @Test("When numbers are at the ends of 64 bits, then times are clamped, and results repeat the original numbers")
  func extremes() {
    for text in ["9223372036854775807", "-9223372036854775808", "0"] {
      let parameters = QoSParameters(["timeout": text, "out_port": "20000", "in_num_packets": text, "delay": text])
      #expect(parameters.json("timeout") == Int64(text).map(JSON.integer))
      #expect(TCPTest(parameters).limit <= 60_000_000_000)
      #expect((0...2_000_000_000_000).contains(UDPTest(parameters).limit))
    }
    #expect(QoSParameters(["timeout": "soon"]).json("timeout") == .string("soon"))
  }

  @Test("When a test has no number, or a number twice, then it is left out and the others stay")
  func unusable() throws {
    let objectives = try objectives(
      #"{"objectives":{"tcp":[{"qos_test_uid":"x"},{},7,{"qos_test_uid":"4"},{"qos_test_uid":4}],"udp":null}}"#)
    #expect(objectives.all.map(\.uid) == [4])
  }

  @Test("When there are more tests than allowed threads, then the rest is left out")
  func tooMany() throws {
    let tests = (0..<300).map { #"{"qos_test_uid":"\#($0)","concurrency_group":"1"}"# }.joined(separator: ",")
    let objectives = try objectives(#"{"objectives":{"dns":[\#(tests)]}}"#)
    #expect(objectives.all.count == QoSObjectives.most)
  }

  @Test(
    "When the answer has no objectives or an error, then the error has the reason",
    arguments: [
      ("[]", "is no JSON object"), ("{", "is no JSON object"), ("{}", "has no objectives"),
      (#"{"objectives":[]}"#, "has no objectives"),
      (#"{"error":["no such client"],"objectives":{}}"#, "no such client"),
    ])
  func unusableAnswer(text: String, reason: String) {
    let error = #expect(throws: SpeedTestError.self) { try self.objectives(text) }
    #expect(error.map { "\($0)".contains(reason) } == true)
  }

  @Test("When there are no tests, then there are no groups")
  func none() throws { #expect(try objectives(#"{"objectives":{}}"#).groups.isEmpty) }
}
