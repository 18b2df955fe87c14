import TestSupport
import Testing

@testable import SpeedTest

/// The pauses between attempts are real ones: 1 s in all.
@Suite struct ConnectorSlowTests {
  @Test("Edge 5: when fresh connections keep ending, then the fifth attempt is the last", arguments: [4, 5])
  func attempts(closed: Int) throws {
    let clock = StepClock()
    let counter = Counter()
    let server = try LoopbackServer(clock: clock) {
      $0.line == "connect" && counter.increment() <= closed ? .close : .serve
    }
    var plan = SpeedTestPlan(host: "127.0.0.1", port: server.port, token: try MeasurementToken("t"))
    plan.opening = .native
    let addresses = try Addresses(host: plan.host, port: plan.port, family: .ipv4)
    let connector = Connector(plan: plan, addresses: addresses, tls: nil, waiting: clock.waiting())
    if closed == 4 {
      #expect(try connector.open(until: .max).conversation.isReady)
    } else {
      #expect(throws: SpeedTestError.closed) { try connector.open(until: .max) }
    }
    #expect(server.count == 5)
  }
}
