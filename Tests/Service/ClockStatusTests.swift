import Coverage
import Testing

@testable import Service

struct ClockStatusTests {
  private let start = WallTime.earliestTrusted.adding(.seconds(86_400))

  private func selection(gnss: Duration? = nil, host: WallTime? = nil) -> ClockSelection {
    var clock = WallClock()
    let boot = Duration.seconds(100)
    _ = clock.select(host: host ?? start, at: boot)
    if let gnss {
      for second in 0..<20 {
        let passed = Duration.seconds(second)
        clock.note(gnss: start.adding(gnss + passed), receiver: nil, at: boot + passed)
      }
    }
    return clock.select(host: (host ?? start).adding(.seconds(20)), at: boot + .seconds(20))
  }

  @Test("when the receiver agrees with the host, then status says which clocks agree")
  func agreement() {
    let status = ClockStatus(selection: selection(gnss: .zero), hostAhead: .milliseconds(3))
    #expect(status.line == "time: gnss rules, two clocks agree (gnss, host)")
    #expect(
      status.json.text == """
        {"ruled_by":"gnss","because":"two clocks agree","confirmed":true,"agreeing":["gnss","host"],\
        "contradicting":[],"host_ahead":0.003}
        """)
  }

  @Test("when only the host's clock is known, then status says that no other clock is known")
  func alone() {
    let status = ClockStatus(selection: selection(), hostAhead: nil)
    #expect(status.line == "time: host rules, no other clock is known")
    #expect(status.json.text.hasSuffix(#""confirmed":false,"agreeing":["host"],"contradicting":[]}"#))
  }

  @Test("when the host's clock is off, then status says by how much and in which direction")
  func offset() {
    let host = selection()
    #expect(
      ClockStatus(selection: host, hostAhead: .seconds(3600)).line.hasSuffix("; the host's clock is 3600 s ahead"))
    #expect(ClockStatus(selection: host, hostAhead: .seconds(-7)).line.hasSuffix("; the host's clock is 7 s behind"))
  }

  @Test("when no clock can be right, then status says that nothing is measured or sent")
  func notSet() {
    let status = ClockStatus(selection: selection(host: WallTime(microseconds: 5_000_000)), hostAhead: .zero)
    #expect(status.line == "the clock is not set: nothing is sent")
  }
}
