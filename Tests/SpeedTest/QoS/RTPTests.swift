import Testing

@testable import SpeedTest

@Suite struct RTPTests {
  private let statistics = RTPStatistics(firstSequence: 100, sampleRate: 8000, buffer: 100_000_000)

  /// Packets of 20 ms: sequence from 100, time stamps in steps of 160.
  private func packet(_ index: Int, at milliseconds: Double) -> RTPArrival {
    RTPArrival(
      sequence: 100 &+ UInt16(truncatingIfNeeded: index), timestamp: UInt32(index * 160),
      time: Int64(milliseconds * 1e6))
  }

  @Test("When a packet is written, then its header is that of RFC 3550, and it reads back")
  func header() throws {
    let packet = RTPPacket(
      isMarked: true, payloadType: 8, sequence: 0xABCD, timestamp: 0x0102_0304, source: 0xDEAD_BEEF)
    let bytes = packet.bytes(payload: [0x55, 0xAA])
    #expect(
      bytes == [
        0x80,  // version 2, no padding, no extension, no sources
        0x88,  // marker, payload type 8
        0xAB, 0xCD,  // sequence
        0x01, 0x02, 0x03, 0x04,  // time stamp
        0xDE, 0xAD, 0xBE, 0xEF,  // SSRC
        0x55, 0xAA,
      ])
    #expect(RTPPacket(bytes) == packet)
    #expect(RTPPacket(Array(bytes.prefix(12))) == packet)
  }

  @Test("When bytes are too short or of another version, then they are rejected")
  func foreign() {
    #expect(RTPPacket([]) == nil)
    #expect(RTPPacket([UInt8](repeating: 0x80, count: 11)) == nil)
    #expect(RTPPacket([UInt8](repeating: 0x40, count: 12)) == nil)
    #expect(RTPPacket([UInt8](repeating: 0xFF, count: 12)) == nil)
  }

  @Test("When packets come exactly in time, then jitter, delta and skew are 0 and all packets are one run")
  func exact() {
    let figures = statistics.figures((0..<100).map { packet($0, at: Double($0) * 20) })
    #expect(figures.packets == 100)
    #expect(figures.maximumJitter == 0 && figures.meanJitter == 0 && figures.maximumDelta == 0 && figures.skew == 0)
    #expect(figures.sequenceErrors == 0 && figures.shortestRun == 100 && figures.longestRun == 100)
    #expect(figures.stalls == 0 && figures.meanStallMilliseconds == 0)
  }

  /// By hand: arrivals 0, 36, 40 ms instead of 0, 20, 40. D = +16 ms, then -16 ms.
  /// J1 = 16/16 = 1 ms; J2 = 1 + (16 - 1)/16 = 1.9375 ms; mean = (0 + 1 + 1.9375)/3 = 0.979166 ms; skew = -16 + 16 = 0.
  @Test("When one packet is 16 ms late, then jitter goes up by sixteenths and the mean counts the first packet too")
  func jitter() {
    let figures = statistics.figures([packet(0, at: 0), packet(1, at: 36), packet(2, at: 40)])
    #expect(figures.maximumJitter == 1_937_500)
    #expect(figures.meanJitter == 979_166)
    #expect(figures.maximumDelta == 16_000_000)
    #expect(figures.skew == 0)
  }

  @Test("When the far clock is slow, then the skew is the sum of time stamp differences minus arrival differences")
  func skew() {
    let figures = statistics.figures((0..<11).map { packet($0, at: Double($0) * 21) })
    #expect(figures.skew == -10_000_000)
    #expect(figures.maximumDelta == 1_000_000)
  }

  /// 0 1 | 3 4 5 (2 lost): 3, 4 and 5 are not at their places; one run of 2.
  @Test("When a packet is lost, then each packet behind it is a sequence error, as in the reference")
  func lost() {
    let figures = statistics.figures([0, 1, 3, 4, 5].map { packet($0, at: Double($0) * 20) })
    #expect(figures.packets == 5 && figures.sequenceErrors == 3)
    #expect(figures.shortestRun == 2 && figures.longestRun == 2)
    // Over the gap, the time stamps have moved by two steps as the arrivals have.
    #expect(figures.maximumDelta == 0 && figures.skew == 0)
  }

  @Test("When the first packet is lost, then that is a sequence error")
  func firstLost() {
    #expect(statistics.figures([packet(1, at: 20), packet(2, at: 40)]).sequenceErrors == 2)
  }

  /// Arrival 0 2 1 3: 2 and 1 are out of their places. Times are computed by sequence.
  @Test("When two packets are swapped, then times are computed by sequence and errors by arrival")
  func reordered() {
    let figures = statistics.figures([packet(0, at: 0), packet(2, at: 40), packet(1, at: 41), packet(3, at: 60)])
    #expect(figures.sequenceErrors == 2)
    #expect(figures.shortestRun == 1 && figures.longestRun == 1)
    #expect(figures.maximumDelta == 21_000_000)
    #expect(figures.packets == 4)
  }

  @Test("When a packet comes twice, then it counts once, at its latest arrival, and is no error of sequence")
  func duplicate() {
    let figures = statistics.figures([packet(0, at: 0), packet(0, at: 1), packet(1, at: 20)])
    #expect(figures.packets == 2 && figures.sequenceErrors == 0 && figures.longestRun == 2)
    #expect(figures.maximumDelta == 1_000_000)
    // 0 1 0: the second 0 comes behind 1, so both are out of their places.
    #expect(statistics.figures([packet(0, at: 0), packet(1, at: 20), packet(0, at: 21)]).sequenceErrors == 2)
  }

  /// Places 0 to 9 have 0 1 3 2 4 5 6 8 7 9: four errors, runs of 2, 3 and 1. The run of one counts only as the longest.
  @Test("When runs have different lengths, then the shortest is one of at least two packets")
  func runs() {
    let order = [0, 1, 3, 2, 4, 5, 6, 8, 7, 9]
    let figures = statistics.figures(order.enumerated().map { packet($1, at: Double($0) * 20) })
    #expect(figures.sequenceErrors == 4 && figures.shortestRun == 2 && figures.longestRun == 3)
    #expect(statistics.figures([packet(5, at: 0)]).longestRun == 0, "no packet is at its place")
  }

  @Test("When the sequence and the time stamp wrap, then nothing is wrong")
  func wrapping() {
    let statistics = RTPStatistics(firstSequence: 65_534, sampleRate: 8000, buffer: 100_000_000)
    let arrivals = (0..<4).map { index in
      RTPArrival(
        sequence: 65_534 &+ UInt16(index), timestamp: UInt32.max &- 100 &+ UInt32(index * 160),
        time: Int64(index) * 20_000_000)
    }
    let figures = statistics.figures(arrivals)
    #expect(figures.sequenceErrors == 0 && figures.longestRun == 4)
    #expect(figures.maximumDelta == 0 && figures.skew == 0)
  }

  /// Gaps of 100 (not more than the buffer), 150 and 350 ms.
  @Test("When gaps are longer than the buffer, then they are stalls with their mean")
  func stalls() {
    let times: [Double] = [0, 100, 250, 600]
    let figures = statistics.figures(times.enumerated().map { packet($0.offset, at: $0.element) })
    #expect(figures.stalls == 2)
    #expect(figures.meanStallMilliseconds == 250)
  }

  @Test("When nothing or one packet arrives, then the figures are 0, and the run has the packets that arrived")
  func few() {
    #expect(statistics.figures([]) == RTPFigures())
    let one = statistics.figures([packet(0, at: 7)])
    #expect(one.packets == 1 && one.longestRun == 1 && one.meanJitter == 0)
  }

  @Test("When times and stamps are at the ends of their ranges, then nothing traps")
  func extremes() {
    let arrivals = [
      RTPArrival(sequence: 0, timestamp: 0, time: .min), RTPArrival(sequence: 1, timestamp: .max, time: .max),
      RTPArrival(sequence: 65_535, timestamp: 1 << 31, time: .min),
    ]
    for rate: Int64 in [0, 1, 8000, .max] {
      let figures = RTPStatistics(firstSequence: 9, sampleRate: rate, buffer: 0).figures(arrivals)
      #expect(figures.packets == 3)
    }
  }

  @Test("When the server's result has 8 or 10 numbers, then they are read in its order")
  func serverResult() throws {
    let ten = try #require(RTPFigures(reply: "VOIPRESULT 4302754 2568062 13879511 -165694277 100 1 2 98 3 120"))
    #expect(ten.maximumJitter == 4_302_754 && ten.meanJitter == 2_568_062 && ten.maximumDelta == 13_879_511)
    #expect(ten.skew == -165_694_277 && ten.packets == 100 && ten.sequenceErrors == 1)
    #expect(ten.shortestRun == 2 && ten.longestRun == 98 && ten.stalls == 3 && ten.meanStallMilliseconds == 120)
    let eight = try #require(RTPFigures(reply: "VOIPRESULT 1 2 3 4 5 6 7 8"))
    #expect(eight.longestRun == 8 && eight.stalls == nil && eight.meanStallMilliseconds == nil)
  }

  @Test(
    "When a text is not a call result, then it is rejected",
    arguments: [
      "", "VOIPRESULT", "VOIPRESULT 1 2 3 4 5 6 7", "VOIPRESULT 1 2 3 4 5 6 7 8 9", "OK 1 2 3 4 5 6 7 8",
      "VOIPRESULT 1 2 3 4 5 6 7 x", "VOIPRESULT 1 2 3 4 5 6 7 99999999999999999999",
    ])
  func noServerResult(text: String) { #expect(RTPFigures(reply: text) == nil) }

  @Test("When a call has the usual parameters, then its packets are those of docs/protocol.md, 8")
  func usualCall() throws {
    let call = try #require(VoIPCall(QoSParameters(["call_duration": "2000000000"]), firstSequence: 0))
    let odd = try #require(VoIPCall(QoSParameters(["delay": "2500000"]), firstSequence: 0))
    #expect((odd.delay, odd.packets, odd.timestampStep) == (2_000_000, 500, 16), "the command has whole ms")
    #expect(call.packets == 100)
    #expect(call.timestampStep == 160)
    #expect(call.payloadSize == 160)
    #expect(call.payloadType == 8)
  }

  @Test(
    "When a call exceeds the limits of servers or UDP, then it is rejected",
    arguments: [
      ["delay": "0"], ["delay": "1000000001"], ["call_duration": "30000000001"], ["call_duration": "-1"],
      ["sample_rate": "0"], ["sample_rate": "9223372036854775807"], ["bits_per_sample": "0"], ["payload": "128"],
      ["delay": "1000000", "call_duration": "1001000000"],
      ["delay": "1000000000", "sample_rate": "192000", "bits_per_sample": "32"],
      ["delay": "9223372036854775807", "call_duration": "9223372036854775807"],
    ])
  func impossibleCalls(values: [String: String]) {
    #expect(VoIPCall(QoSParameters(values), firstSequence: 0) == nil)
  }
}
