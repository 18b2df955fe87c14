import Glibc
import Testing

@testable import SpeedTest

/// The borders of waits and limits. Edges are those of docs/protocol.md, 9.
@Suite struct LimitTests {
  private static let second: Int64 = 1_000_000_000

  /// An elapsed time, the time of the last block, the newest report, and whether the upload is given up: all in ns from the end of
  /// a phase of 7 s.
  struct Case: Sendable {
    let elapsed: Int64
    var written: Int64?
    var report: Int64?
    let givesUp: Bool
  }

  @Test(
    "Edges 25 and 26: when an upload drains, then each wait ends at its border and not 1 ns before",
    arguments: [
      // The end of w1 + w2, in any state.
      Case(elapsed: 3_100_000_000, givesUp: true), Case(elapsed: 3_099_999_999, givesUp: false),
      Case(elapsed: 3_099_999_999, written: 3_050_000_000, report: 0, givesUp: false),
      Case(elapsed: 3_100_000_000, written: 3_050_000_000, report: 0, givesUp: true),
      // w1, from the end of the phase or from the last block.
      Case(elapsed: 100_000_000, report: 0, givesUp: true), Case(elapsed: 99_999_999, report: 0, givesUp: false),
      Case(elapsed: 599_999_999, written: 500_000_000, report: 0, givesUp: false),
      Case(elapsed: 600_000_000, written: 500_000_000, report: 0, givesUp: true),
      // A block written before the end of the phase counts as at its end.
      Case(elapsed: 99_999_999, written: -second, report: 0, givesUp: false),
      // w3: the report may be a second older than the end.
      Case(elapsed: second, written: 0, report: -second, givesUp: true),
      Case(elapsed: second, written: 0, report: -second - 1, givesUp: false),
      Case(elapsed: second, written: 0, report: nil, givesUp: false),
      // A report beyond the end, as after draining.
      Case(elapsed: second, written: 0, report: 2 * second, givesUp: true),
    ])
  func uploadEnd(_ example: Case) {
    let end = UploadEnd(duration: 7 * Self.second)
    let isReached = end.isReached(
      elapsed: example.elapsed + end.duration, written: example.written.map { $0 + end.duration },
      report: example.report.map { $0 + end.duration })
    #expect(isReached == example.givesUp)
  }

  @Test("Edge 30: when a duration is out of its range, then the limit of the whole test stays in its range")
  func wholeTest() {
    #expect(TimeLimits(duration: -5).whole == 66_200_000_000)
    #expect(TimeLimits(duration: 0).whole == 66_200_000_000)
    #expect(TimeLimits(duration: Self.second).whole == 68_200_000_000)
    #expect(TimeLimits(duration: 60 * Self.second).whole == 186_200_000_000)
    #expect(TimeLimits(duration: .max).whole == 186_200_000_000)
    #expect(TimeLimits(duration: .min).whole == 66_200_000_000)
  }

  @Test("When a plan sets no option, then it has the values of docs/protocol.md, 7.5")
  func defaults() throws {
    let plan = SpeedTestPlan(host: "host", port: 443, token: try MeasurementToken("t"))
    #expect(plan.duration == 7 * Self.second)
    #expect(plan.connections == 3)
    #expect(plan.pings == 10)
    #expect(plan.opening == .http)
    #expect(!plan.isEncrypted && plan.access.verifiesCertificate && plan.access.caFile == nil)
    #expect(plan.access.family == nil)
  }

  @Test(
    "When a control server asks for seconds or connections out of range, then they are clamped",
    arguments: [(0, 1), (-3, 1), (1, 1), (20, 20), (21, 20), (Int.max, 20), (Int.min, 1)])
  func connections(asked: Int, given: Int) throws {
    var plan = SpeedTestPlan(host: "host", port: 443, token: try MeasurementToken("t"))
    plan.threads = asked
    plan.seconds = asked
    #expect(plan.connections == given)
    #expect(plan.duration == min(max(Int64(asked), 1), 30) * Self.second)
  }

  @Test(
    "When nothing happens on a socket, then a wait ends at its time, and a wait whose time has passed still sees a ready socket"
  )
  func waits() throws {
    let clock = StepClock()
    let waiting = clock.waiting()
    let pair = try SocketPair()
    #expect(try waiting.wait(on: pair.ours, for: Int16(POLLIN), until: clock.now) == false)
    #expect(try waiting.wait(on: pair.ours, for: Int16(POLLOUT), until: clock.now - 5) == true)
    pair.send([1])
    #expect(try waiting.wait(on: pair.ours, for: Int16(POLLIN), until: 0) == true)
    #expect(try waiting.wait(on: pair.ours, for: Int16(POLLIN), until: .max) == true)
  }

  @Test("When the peer has closed, then a wait for bytes ends, so that the read sees the end")
  func waitAtTheEnd() throws {
    let clock = StepClock()
    let pair = try SocketPair()
    pair.end()
    #expect(try clock.waiting().wait(on: pair.ours, for: Int16(POLLIN), until: .max) == true)
  }

  @Test("When ten pings and a second are not both reached, then pings go on, up to 200")
  func enoughPings() {
    let end = PingEnd()
    #expect(!end.isReached(by: 10, elapsed: 999_999_999))
    #expect(end.isReached(by: 10, elapsed: 1_000_000_000))
    #expect(!end.isReached(by: 9, elapsed: 5_000_000_000))
    #expect(!end.isReached(by: 199, elapsed: 1))
    #expect(end.isReached(by: 200, elapsed: 1))
  }

  @Test("When the control server asks for a number out of range, then it is clamped to 1 to 200")
  func clampedPings() {
    #expect(PingEnd(least: -3).isReached(by: 1, elapsed: 1_000_000_000))
    #expect(PingEnd(least: 9999).isReached(by: 200, elapsed: 1))
  }
}
