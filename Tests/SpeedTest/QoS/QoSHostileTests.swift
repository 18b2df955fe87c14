import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import SpeedTest

/// Servers that send invalid data: it is refused or read, and nothing traps.
@Suite struct QoSHostileTests {
  private static let numbers = [
    "0", "-1", "1", "255", "256", "65535", "65536", "2147483648", "4294967296", "1e9", "1e18", "1e19", "1e400", "-0.0",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "99999999999999999999999", "nan", "inf", "",
    "0x7F", "1.5", "\u{0}", "\u{1F4A9}",
  ]

  private static let names = [
    "qos_test_uid", "concurrency_group", "server_addr", "server_port", "out_port", "in_port", "port", "timeout",
    "delay",
    "out_num_packets", "in_num_packets", "call_duration", "sample_rate", "bits_per_sample", "payload", "buffer", "url",
    "range", "conn_timeout", "download_timeout", "host", "resolver", "record", "request", "max_hops",
  ]

  @Test(
    "When objectives have numbers at the ends of any range, then each test has its own limit and result")
  func objectives() throws {
    var generator = SeededGenerator(seed: 46)
    for _ in 0..<400 {
      var types: [String: Any] = [:]
      for kind in QoSTestKind.allCases {
        var values: [String: Any] = ["qos_test_uid": "\(types.count)"]
        for name in Self.names where Bool.random(using: &generator) {
          let text = Self.numbers.randomElement(using: &generator) ?? ""
          values[name] = Int64(text).flatMap { Bool.random(using: &generator) ? $0 as Any : nil } ?? text
        }
        types[kind.rawValue] = [values]
      }
      let objectives = try QoSObjectives(try JSONSerialization.data(withJSONObject: ["objectives": types]))
      #expect(objectives.all.count <= QoSTestKind.allCases.count)
      for objective in objectives.all {
        let test = QoSTestList.test(objective)
        #expect((0...2_000_000_000_000).contains(test.limit))
        let (status, members) = test.failed(.timeout)
        #expect(status == .timeout)
        #expect(members.count == Set(members.map(\.key)).count)
        let text = JSON.object(members).text
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
      }
    }
  }

  @Test("When lines of a server are changed at random, then they are read or refused")
  func lines() {
    var generator = SeededGenerator(seed: 47)
    let seeds = [
      "OK +ID1", "10218 +ID2", #"RCV 6 1 {"0":27164528,"1":3693356} +ID3"#, "RCV 2 0 {0=5, 1=6}",
      "VOIPRESULT 4302754 2568062 13879511 -165694277 100 0 100 100 0 0 +ID4", "QoSSP0.1", "ACCEPT [TOKEN string]",
    ]
    for _ in 0..<20_000 {
      var words = (seeds.randomElement(using: &generator) ?? "").split(separator: " ", omittingEmptySubsequences: false)
        .map(String.init)
      for index in words.indices where Int.random(in: 0..<3, using: &generator) == 0 {
        words[index] = Self.numbers.randomElement(using: &generator) ?? ""
      }
      let text = words.joined(separator: Bool.random(using: &generator) ? " " : ",")
      let line = QTPLine(text)
      #expect(line.id == nil ? line.text == text : text.hasPrefix(line.text))
      var replies = QTPReplies()
      _ = replies.issue()
      replies.read(line)
      if let count = UDPCount(line.text) {
        #expect(count.received >= 0)
        let figures = UDPFigures(received: count.received, wanted: 1000, roundTrips: count.roundTrips)
        #expect((0...100).contains(figures.lossPercent) && figures.meanRoundTrip ?? 0 >= 0)
      }
      var opening = QTPOpening()
      _ = try? opening.read(line.text)
      _ = RTPFigures(reply: line.text)
    }
  }

  @Test("When packets have random bytes, then they are read or refused, and the figures are in their ranges")
  func packets() {
    var generator = SeededGenerator(seed: 48)
    var (arrivals, answers, incoming) = ([RTPArrival](), UDPAnswers(), UDPArrivals())
    for index in 0..<5000 {
      let length = [0, 11, 12, 45, 46, 47, 172].randomElement(using: &generator) ?? 0
      var bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      if length > 0, Bool.random(using: &generator) {
        bytes[0] = [0x80, 1, 2, 3].randomElement(using: &generator) ?? 0
      }
      if let probe = UDPProbe(bytes) {
        #expect(probe.bytes == bytes)
        if index % 3 == 0 { answers.send(at: probe.time) }
        answers.answer(probe.number, at: probe.time)
        incoming.arrive(probe.number)
      }
      if let packet = RTPPacket(bytes) {
        arrivals.append(
          RTPArrival(
            sequence: packet.sequence, timestamp: packet.timestamp, time: .random(in: .min ... .max, using: &generator))
        )
      }
    }
    #expect(answers.roundTrips.values.allSatisfy { $0 >= 0 } && answers.roundTrips.count <= answers.count)
    #expect(incoming.count > 0)
    let figures = RTPStatistics(firstSequence: 0, sampleRate: 8000, buffer: 1).figures(arrivals)
    #expect(figures.packets == Int64(Set(arrivals.map(\.sequence)).count))
    #expect(figures.maximumJitter >= figures.meanJitter && figures.longestRun >= figures.shortestRun)
  }
}
