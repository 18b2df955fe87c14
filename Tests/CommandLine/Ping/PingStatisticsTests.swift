import Glibc
import TestSupport
import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

struct PingStatisticsTests {
  private var statistics = PingStatistics()

  private mutating func answer(_ number: UInt64, after milliseconds: Int64, oneWay: (Int64, Int64)? = nil) {
    count(
      .answered(rttNanoseconds: milliseconds * 1_000_000), number,
      oneWay: oneWay.map { .init(upNanoseconds: $0.0, downNanoseconds: $0.1) })
  }

  private mutating func count(_ kind: PingEvent.Kind, _ number: UInt64, oneWay: PingEvent.OneWay? = nil) {
    statistics.count(.sample(kind, number: number, oneWay: oneWay))
  }

  @Test("when pings have verdicts, then each is counted once, and events after a verdict are counted apart")
  mutating func counts() {
    answer(0, after: 10)
    count(.lost(.up), 1)
    count(.lost(.down), 2)
    count(.lost(.unknown), 3)
    count(.icmpError(type: 3, code: 1), 4)
    count(.notSent(SendFailure(code: ENETUNREACH)), 5)
    count(.missed(count: 3), 6)
    count(.refused(rttNanoseconds: 1), 9)
    count(.late(rttNanoseconds: 2_000_000_000), 3)
    count(.duplicate, 0)
    count(.corrupt, 0)
    count(.cancelled, 10)
    #expect(statistics.sent == 6)
    #expect((statistics[.answered], statistics[.refused], statistics[.cancelled]) == (1, 1, 1))
    #expect((statistics[.lost], statistics[.lostUp], statistics[.lostDown]) == (3, 1, 1))
    #expect(statistics[.unreachable] == 1)
    #expect(statistics[.notSent] == 4)
    #expect((statistics[.late], statistics[.duplicates], statistics[.corrupt]) == (1, 1, 1))
    #expect(statistics.loss == 4.0 / 6)
  }

  @Test("when the token is refused, then it counts as no loss, outage, round trip or variation")
  mutating func refusals() {
    answer(0, after: 10)
    for number in 1..<8 { count(.refused(rttNanoseconds: 40_000_000), UInt64(number)) }
    answer(8, after: 12)
    #expect(statistics.loss == 0)
    #expect((statistics.roundTrip.count, statistics.roundTrip.greatest) == (2, 12_000_000))
    #expect(statistics.variation.count == 0)
    #expect(statistics.outages.count == 0)
  }

  @Test("when stamps of answered pings are missing or useless, then they are counted by reason")
  mutating func stamps() {
    for (number, flags) in [
      PingEvent.Flags.noSendStamp, [.noSendStamp, .noReceiveStamp], .clockStep, .absurdStamps, .reordered, [],
    ].enumerated() {
      statistics.count(.sample(.answered(rttNanoseconds: 1), number: UInt64(number), flags: flags))
    }
    #expect((statistics[.missingStamps], statistics[.clockSteps], statistics[.absurdStamps]) == (2, 1, 1))
    #expect(statistics[.reordered] == 1)
  }

  @Test("when nothing was sent, then there is no loss and no spread")
  func empty() {
    #expect(statistics.loss == nil)
    #expect(statistics.roundTrip.mean == nil)
    #expect(statistics.roundTrip.percentile(50) == nil)
  }

  @Test("when a hundred pings take 1 to 100 ms, then extremes and mean are exact, and percentiles to three digits")
  mutating func spread() {
    for number in 1...100 { answer(UInt64(number) - 1, after: Int64(number)) }
    let spread = statistics.roundTrip
    #expect((spread.least, spread.greatest, spread.mean) == (1_000_000, 100_000_000, 50_500_000))
    for (percent, expected) in [(50.0, 50e6), (95, 95e6), (99, 99e6)] {
      let found = Double(spread.percentile(percent) ?? 0)
      #expect(abs(found - expected) <= expected / 1000, "p\(percent) is \(found)")
    }
  }

  @Test("when times range from a microsecond to minutes, then percentiles match the sorted list to three digits")
  func sizes() {
    var spread = DurationHistogram()
    var state: UInt64 = 7
    var values: [Int64] = []
    for index in 0..<10_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let bits = UInt64(10 + index % 26)
      let mask: UInt64 = (1 << bits) - 1
      values.append(1000 + Int64((state >> 20) & mask))
      spread.record(values[index])
    }
    values.sort()
    for percent in [1, 25, 50, 90, 95, 99, 99.9] {
      let exact = values[Int(percent * 100) - 1]
      let found = spread.percentile(percent) ?? 0
      #expect(abs(found - exact) <= exact / 1000 + 1, "p\(percent) is \(found), not \(exact)")
    }
    #expect((spread.least, spread.greatest) == (values[0], values[9999]))
  }

  @Test("when there are many targets, then percentiles are exact to two digits")
  func coarse() {
    var spread = DurationHistogram(isCoarse: true)
    for number in 1...1000 { spread.record(Int64(number) * 31_000) }
    for (percent, expected) in [(50.0, 15.5e6), (95, 29.45e6), (99, 30.69e6)] {
      let found = Double(spread.percentile(percent) ?? 0)
      #expect(found >= expected && found <= expected * 1.008, "p\(percent) is \(found)")
    }
    #expect((spread.least, spread.greatest, spread.mean) == (31_000, 31_000_000, 15_515_500))
  }

  @Test("when a time is absurd, then it is an extreme, and percentiles stay between the extremes")
  func endless() {
    var spread = DurationHistogram()
    spread.record(.max)
    spread.record(-1)
    #expect(spread.greatest == .max && spread.least == -1)
    #expect(spread.percentile(50) == 0)
  }

  @Test("when neighbours differ, then the variation is the difference of their delays, in the order of sending")
  mutating func variation() {
    answer(0, after: 10)
    answer(2, after: 40)
    answer(1, after: 13)
    #expect(statistics.variation.count == 2)
    #expect(statistics.variation.least == 3_000_000)
    #expect(statistics.variation.greatest == 27_000_000)
  }

  @Test("when a ping between two answers is lost, then they give no variation")
  mutating func noNeighbours() {
    answer(0, after: 10)
    answer(2, after: 40)
    count(.lost(.unknown), 1)
    #expect(statistics.variation.count == 0)
  }

  @Test("when the reflector stamps, then each direction has its own variation, for any offset of its clock")
  mutating func oneWay() {
    answer(0, after: 10, oneWay: (-5_000_000_000, 5_010_000_000))
    answer(1, after: 12, oneWay: (-4_999_000_000, 5_011_000_000))
    #expect(statistics.variationUp.greatest == 1_000_000)
    #expect(statistics.variationDown.greatest == 1_000_000)
  }

  @Test("when the reflector's clock jumps or restarts, then the jump counts as no variation")
  mutating func jumpingClock() {
    answer(0, after: 10, oneWay: (100, 200))
    answer(1, after: 10, oneWay: (103, 200))
    answer(2, after: 10, oneWay: (.min, .max))
    answer(3, after: 10, oneWay: (.max, .min))
    answer(4, after: 10, oneWay: (-40_000_000_000_000, 200))
    count(
      .answered(rttNanoseconds: 10), 5, oneWay: .init(upNanoseconds: 0, downNanoseconds: 0, isRestarted: true))
    #expect(statistics.variationUp.count == 1 && statistics.variationUp.greatest == 3)
    #expect(statistics.variationDown.count == 1)
  }

  @Test("when a verdict is missing, then later verdicts still count")
  mutating func missingVerdict() {
    answer(0, after: 10)
    for number in 2..<20_000 { count(.lost(.unknown), UInt64(number)) }
    answer(20_000, after: 10)
    #expect(statistics.outages.count == 1)
  }

  @Test("when a flood is far ahead of lost pings, then their verdicts add losses, but no outage or variation")
  mutating func lateVerdicts() {
    for number in 3..<20_000 { answer(UInt64(number), after: 10) }
    for number in 0..<3 { count(.lost(.unknown), UInt64(number)) }
    // The verdict of ping 20,000 never comes.
    for number in 20_001..<40_000 { answer(UInt64(number), after: 10) }
    #expect(statistics[.lost] == 3)
    #expect(statistics.outages.count == 0)
    #expect(statistics.variation.count == 19_996 + 19_998)
  }

  @Test("when the configured number of pings in a row has no answer, then it is an outage")
  mutating func shortOutage() {
    statistics = PingStatistics(leastOutage: 1)
    for number in [UInt64(0), 2] { answer(number, after: 10) }
    count(.lost(.unknown), 1)
    #expect(statistics.outages.longest.map(\.pings) == [1])
  }

  @Test("when three pings in a row have no answer, then it is an outage from the first of them to the next answer")
  mutating func outage() throws {
    answer(0, after: 10)
    // Losses are known a timeout later than the answers behind them.
    answer(5, after: 10)
    for number in [UInt64(1), 2, 4] { count(.lost(.unknown), number) }
    count(.icmpError(type: 3, code: 0), 3)
    let outage = try #require(statistics.outages.longest.first)
    #expect(statistics.outages.count == 1)
    #expect((outage.first, outage.pings, outage.nanoseconds) == (1, 4, 400_000_000))
  }

  @Test("when there are many outages, then all are counted, and the hundred longest are listed in time order")
  mutating func manyOutages() {
    var number: UInt64 = 0
    for outage in 0..<150 {
      answer(number, after: 10)
      let pings = UInt64(3 + outage % 50)
      for lost in 1...pings { count(.lost(.unknown), number + lost) }
      number += pings + 1
    }
    answer(number, after: 10)
    #expect(statistics.outages.count == 150)
    #expect(statistics.outages.longest.count == 100)
    // Three outages of each length from 3 to 52 pings; the hundred longest have 19 or more.
    #expect(statistics.outages.longest.map(\.pings).min() == 19)
    #expect(statistics.outages.longest.map(\.pings).max() == 52)
    let firsts = statistics.outages.longest.map(\.first)
    #expect(firsts == firsts.sorted())
  }

  @Test("when two pings in a row are lost, then it is no outage")
  mutating func noOutage() {
    for number in [UInt64(0), 3] { answer(number, after: 10) }
    for number in [UInt64(1), 2] { count(.lost(.unknown), number) }
    #expect(statistics.outages.count == 0)
  }

  @Test("when the last pings have no answer, then the outage has no end yet")
  mutating func openOutage() {
    for number in 0..<4 { count(.lost(.unknown), UInt64(number)) }
    #expect(statistics.outages.count == 0)
    #expect(statistics.outages.current?.pings == 4)
  }
}

extension PingEvent {
  /// A ping on a grid of 100 ms, sent a millisecond late; its verdict is known 20 ms later.
  static func sample(
    _ kind: Kind, number: UInt64, flags: Flags = [], oneWay: OneWay? = nil, isOfKnownPing: Bool = true,
    from: PingAddress? = nil
  ) -> PingEvent {
    let slot = number * 100_000_000
    let isSent =
      switch kind {
      case .notSent, .missed: false
      default: isOfKnownPing
      }
    return PingEvent(
      target: 1, kind: kind, number: number, sequence: UInt32(number), slot: slot,
      sent: isSent ? slot + 1_000_000 : nil,
      occurred: slot + 21_000_000, flags: flags, oneWay: oneWay, isOfKnownPing: isOfKnownPing, from: from)
  }
}
