import Foundation
import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// The summary of one target, as text and as JSON (docs/measuring.md).
struct PingSummaryTests {
  private var statistics = PingStatistics()

  private mutating func count(_ kind: PingEvent.Kind, _ number: UInt64, oneWay: PingEvent.OneWay? = nil) {
    statistics.count(.sample(kind, number: number, oneWay: oneWay))
  }

  private func summary(underWay: UInt64? = nil) -> PingSummary {
    PingSummary(name: "a", statistics: statistics, underWay: underWay)
  }

  private func figures(underWay: UInt64? = nil) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(summary(underWay: underWay).json.utf8))
    let whole = try #require(object as? [String: [String: Any]])
    return try #require(whole[underWay == nil ? "summary" : "interim"])
  }

  @Test("when pings were answered, then lines have the spread of the round trip and of its variation in milliseconds")
  mutating func spreads() throws {
    for (number, milliseconds) in [10, 12, 20].enumerated() {
      count(.answered(rttNanoseconds: Int64(milliseconds) * 1_000_000), UInt64(number))
    }
    let lines = summary().text.split(separator: "\n")
    #expect(lines[0] == "a: 3 sent, 3 answered, 0 lost (0.0 %)")
    #expect(lines[1].hasPrefix("  round trip  min 10.000 ms  mean 14.000 ms  p50 12.0"))
    #expect(lines[1].hasSuffix("  max 20.000 ms"))
    #expect(lines[2].hasPrefix("  variation   min 2.000 ms  mean 5.000 ms  "))
    #expect(lines.count == 3, "there is no line for directions or outages")
    let trip = try #require(try figures()["rtt_ms"] as? [String: Double])
    #expect(Set(trip.keys) == ["min", "mean", "p50", "p95", "p99", "max"])
    #expect((trip["min"], trip["mean"], trip["max"]) == (10, 14, 20))
  }

  @Test("when nothing was answered, then there is no line and no member for a spread")
  mutating func noSpread() throws {
    count(.lost(.unknown), 0)
    #expect(summary().text == "a: 1 sent, 0 answered, 1 lost (100.0 %)")
    for key in ["rtt_ms", "ipdv_ms", "ipdv_up_ms", "ipdv_down_ms"] { #expect(try figures()[key] == nil) }
    #expect(try figures()["loss"] as? Double == 1)
  }

  @Test("when a reflector has counted, then losses have their direction, and each direction its variation")
  mutating func directions() throws {
    count(.answered(rttNanoseconds: 10), 0, oneWay: .init(upNanoseconds: 5_000_000, downNanoseconds: 1_000_000))
    count(.answered(rttNanoseconds: 10), 1, oneWay: .init(upNanoseconds: 8_000_000, downNanoseconds: 2_000_000))
    count(.lost(.up), 2)
    count(.lost(.up), 3)
    count(.lost(.down), 4)
    let lines = summary().text.split(separator: "\n")
    #expect(lines[0] == "a: 5 sent, 2 answered, 3 lost (60.0 %), 2 up, 1 down")
    #expect(lines.contains { $0.hasPrefix("  up          min 3.000 ms") })
    #expect(lines.contains { $0.hasPrefix("  down        min 1.000 ms") })
    #expect(lines.last == "  no answer since ping 2")
    #expect((try figures()["ipdv_up_ms"] as? [String: Double])?["max"] == 3)
    #expect((try figures()["ipdv_down_ms"] as? [String: Double])?["max"] == 1)
    #expect((try figures()["lost_up"] as? Int, try figures()["lost_down"] as? Int) == (2, 1))
  }

  @Test("when outages have ended and one has not, then the text has the longest, and the JSON has each")
  mutating func outages() throws {
    for number in [UInt64(0), 4, 10] { count(.answered(rttNanoseconds: 1_000_000), number) }
    for number in [UInt64(1), 2, 3] + [5, 6, 7, 8, 9] + [11, 12, 13] { count(.lost(.unknown), number) }
    let text = summary().text
    #expect(text.contains("\n  2 outages, the longest 500.000 ms\n"))
    #expect(text.hasSuffix("\n  no answer since ping 11"))
    let outages = try #require(try figures()["outages"] as? [[String: Any]])
    #expect(outages.map { $0["first_ping"] as? Int } == [1, 5, 11])
    #expect(outages.map { $0["pings"] as? Int } == [3, 5, 3])
    #expect(outages.map { $0["length_ms"] as? Double } == [300, 500, nil])
    #expect(outages.map { $0["open"] as? Bool } == [nil, nil, true])
    #expect(outages[0]["from_ns"] as? Int == 100_000_000)
  }

  @Test("when rare events happened, then the line has each with its count, and no other")
  mutating func rare() throws {
    count(.icmpError(type: 3, code: 1), 0)
    count(.refused(rttNanoseconds: 1), 1)
    count(.missed(count: 3), 2)
    count(.cancelled, 5)
    count(.late(rttNanoseconds: 1), 0)
    count(.duplicate, 1)
    count(.duplicate, 1)
    count(.corrupt, 1)
    #expect(
      summary().text == """
        a: 3 sent, 0 answered, 1 lost (50.0 %; 1 of them unreachable), 1 refused, 3 not sent, \
        1 without an answer when it ended, 1 late, 2 duplicate, 1 corrupt
        """)
    for (key, value) in [
      "unreachable": 1, "refused": 1, "not_sent": 3, "cancelled": 1, "late": 1, "duplicates": 2, "corrupt": 1,
      "reordered": 0,
    ] {
      #expect(try figures()[key] as? Int == value, "\(key)")
    }
  }

  @Test("when a dead host is pinged to a deadline, then the text says how many pings were sent")
  mutating func deadline() throws {
    count(.cancelled, 0)
    #expect(summary().text == "a: 1 sent, 0 answered, 0 lost, 1 without an answer when it ended")
    #expect((try figures()["sent"] as? Int, try figures()["cancelled_sent"] as? Int) == (0, 1))
  }

  @Test("when a TTL was exceeded, then that is counted apart from what is unreachable; answers have their TTL")
  mutating func hopLimits() throws {
    count(.icmpError(type: 3, code: 1), 0)
    count(.icmpError(type: 11, code: 0), 1)
    for (number, ttl) in [(2, 57), (3, 64)] as [(UInt64, UInt8)] {
      statistics.count(
        PingEvent(
          target: 1, kind: .answered(rttNanoseconds: 1), number: number, sequence: 0, slot: 0, sent: 0, occurred: 0,
          hopLimit: ttl))
    }
    let lines = summary().text.split(separator: "\n")
    #expect(lines[0] == "a: 4 sent, 2 answered, 2 lost (50.0 %; 1 of them unreachable; 1 of them with exceeded TTL)")
    #expect(lines.contains("  TTL         57 to 64"))
    #expect((try figures()["unreachable"] as? Int, try figures()["ttl_exceeded"] as? Int) == (2, 1))
    #expect(try figures()["ttl"] as? [String: Int] == ["min": 57, "max": 64])
  }

  @Test("when a run goes on, then the object is called interim and has the pings in flight")
  func interim() throws {
    #expect(try figures(underWay: 5)["in_flight"] as? Int == 5)
    #expect(try figures()["in_flight"] == nil)
    #expect(try figures(underWay: .max)["in_flight"] as? Int64 == .max)
  }
}
