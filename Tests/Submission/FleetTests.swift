import Coverage
import Testing

@testable import simulate_fleet

struct FleetTests {
  private func outcome(_ behaviour: Behaviour) -> Outcome {
    var chance = SplitMix64(seed: 1)
    return Fleet(devices: 1000, rate: 10, requestsPerDelivery: 1, behaviour: behaviour).run(&chance)
  }

  @Test("when a fleet returns after an outage, then it wastes few requests, and 99 % of the devices deliver soon")
  func kindness() throws {
    let sender = outcome(Behaviour(name: "sender"))
    #expect(sender.delivered.count == 1000)
    #expect(sender.meanRefusals <= 2)
    #expect(try #require(sender.time(of: 0.99)) <= 260)
    let refusals: Int = sender.refusals.reduce(0, +)
    let requests: Int = sender.requests.reduce(0, +)
    #expect(refusals + 1000 == requests, "every request is accounted for")
    let stubborn = outcome(Behaviour(name: "fixed", spread: 0, fixedRetry: 5))
    #expect(stubborn.meanRefusals > 10, "the server of the simulation does refuse")
  }
}
