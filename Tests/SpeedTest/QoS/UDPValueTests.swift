import Testing

@testable import SpeedTest

@Suite struct UDPValueTests {
  private static let uuid = Array("3b1f27a0-cbb0-4054-b967-070f8045f891".utf8)

  @Test("When a packet is written, then its 46 bytes are flag, number, uuid and time, and they read back")
  func probe() throws {
    let probe = UDPProbe(flag: .answerWanted, number: 0x80, uuid: Self.uuid, time: 0x0102_0304_0506_0708)
    let expected: [UInt8] =
      [
        0x03,  // an answer is wanted
        0x80,  // number 128
      ] + Self.uuid  // 36 bytes of text
      + [1, 2, 3, 4, 5, 6, 7, 8]  // ns, big endian
    #expect(probe.bytes == expected)
    #expect(probe.bytes.count == 46)
    #expect(UDPProbe(expected) == probe)
    #expect(UDPProbe(UDPProbe(flag: .answer, number: 0, uuid: Self.uuid, time: -1).bytes)?.time == -1)
  }

  @Test("When bytes are not a packet of the test, then they are rejected")
  func foreign() {
    let good = UDPProbe(flag: .silent, number: 1, uuid: Self.uuid, time: 0).bytes
    #expect(UDPProbe(good) != nil)
    #expect(UDPProbe([]) == nil)
    #expect(UDPProbe(Array(good.dropLast())) == nil)
    #expect(UDPProbe(good + [0]) == nil)
    for flag: UInt8 in [0, 4, 255] { #expect(UDPProbe([flag] + good[1...]) == nil) }
  }

  @Test("When a token is of another length than usual, then packets still have 36 bytes of it")
  func uuidOfTokens() throws {
    let usual = try MeasurementToken("3b1f27a0-cbb0-4054-b967-070f8045f891_1795220163_T8Xabc=")
    #expect(UDPProbe.uuid(of: usual) == Self.uuid)
    #expect(UDPProbe.uuid(of: try MeasurementToken("none")) == Array(("none" + String(repeating: "0", count: 32)).utf8))
    #expect(UDPProbe.uuid(of: try MeasurementToken(String(repeating: "a", count: 90))).count == 36)
  }

  @Test(
    "When answers come, then each packet has one round trip, repeated and foreign ones are ignored")
  func answers() {
    var answers = UDPAnswers()
    answers.answer(0, at: 5)
    for time: Int64 in [100, 200, 300] { answers.send(at: time) }
    answers.answer(2, at: 350)
    answers.answer(0, at: 360)
    answers.answer(0, at: 400)
    answers.answer(3, at: 410)
    #expect(answers.roundTrips == [2: 50, 0: 260])
    #expect(!answers.isComplete)
    answers.answer(1, at: 420)
    #expect(answers.isComplete)
  }

  @Test("When more than 256 packets are sent, then a number means the newest packet that has it")
  func manyAnswers() {
    var answers = UDPAnswers()
    for time in 0..<300 { answers.send(at: Int64(time)) }
    #expect(answers.nextNumber == 300 - 256)
    answers.answer(10, at: 1000)
    answers.answer(200, at: 1000)
    #expect(answers.roundTrips == [266: 734, 200: 800])
  }

  @Test("When the server's packets come, then new and repeated ones are distinguished, also beyond 256")
  func arrivals() {
    var arrivals = UDPArrivals()
    for index in [0, 2, 1, 2] { arrivals.arrive(UInt8(index)) }
    #expect(arrivals.count == 3)
    var many = UDPArrivals()
    for index in 0..<700 where index != 300 { many.arrive(UInt8(truncatingIfNeeded: index)) }
    #expect(many.count == 699)
  }

  @Test("When the first packet to arrive has a high number, then it counts like any other")
  func highFirst() {
    var arrivals = UDPArrivals()
    for number: UInt8 in [200, 201, 199] { arrivals.arrive(number) }
    #expect(arrivals.count == 3)
  }

  @Test("When the server counts, then its numbers and round trips are read, in either form of the pairs")
  func counts() throws {
    let count = try #require(UDPCount(#"RCV 3 1 {"0":27164528,"-128":379760,"x":1}"#))
    #expect(count.received == 3)
    #expect(count.roundTrips == [0: 27_164_528, -128: 379_760])
    #expect(UDPCount("RCV 2 0 {0=5, 1=6}")?.roundTrips == [0: 5, 1: 6])
    #expect(UDPCount("RCV 2")?.received == 2)
    #expect(UDPCount("RCV 0 0 {}")?.roundTrips == [:])
  }

  @Test(
    "When a text is not a count, then it is rejected",
    arguments: ["", "RCV", "RCV x", "RCV -1 0", "OK 3 0", "RCV 99999999999999999999 0", "ERR"])
  func noCount(text: String) { #expect(UDPCount(text) == nil) }

  @Test("When packets are lost, then the share is rounded up, so that 0 means none")
  func loss() {
    func percent(_ received: Int64, of wanted: Int64) -> Int64 {
      UDPFigures(received: received, wanted: wanted).lossPercent
    }
    #expect(percent(6, of: 6) == 0)
    #expect(percent(999, of: 1000) == 1)
    #expect(percent(2, of: 3) == 34)
    #expect(percent(0, of: 7) == 100)
    #expect(percent(9, of: 7) == 0)
    #expect(percent(.max, of: 1) == 0)
    #expect(percent(0, of: 0) == 0)
  }

  @Test("When round trips are summed, then nothing overflows, and their text is that of the reference client")
  func roundTrips() {
    let figures = UDPFigures(wanted: 2, roundTrips: [1: 20, 0: 11])
    #expect(figures.meanRoundTrip == 15)
    #expect(figures.roundTripText == "{0=11, 1=20}")
    #expect(UDPCount.mean([Int64.max, Int64.max]) == .max / 2)
    #expect(UDPCount.mean([Int64]()) == nil)
  }

  @Test(
    "When an objective has no delay, then it is 300 ms, or less so that all packets leave within the timeout",
    arguments: [
      (["out_num_packets": "10"], 300), (["out_num_packets": "300"], 16),
      (["out_num_packets": "1000", "timeout": "100000000"], 1),
      (["out_num_packets": "300", "delay": "300000000"], 300), (["in_num_packets": "300"], 300),
    ] as [([String: String], Int64)])
  func delay(parameters: [String: String], milliseconds: Int64) {
    #expect(UDPTest(QoSParameters(parameters)).delay / 1_000_000 == milliseconds)
  }
}
