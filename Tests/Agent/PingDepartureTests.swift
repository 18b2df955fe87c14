import Testing

@testable import Agent

/// Which targets are removed when.
struct PingDepartureTests {
  @Test(
    "when many pings are under way, then so many targets leave as there is room for, and the next when some have left")
  func portions() {
    var departure = PingDeparture(of: 0..<5)
    #expect(departure.next { _ in 999 } == [0, 1])
    #expect(departure.next { _ in 999 } == [])
    departure.hasLeft(0)
    #expect(departure.next { _ in 999 } == [2])
    departure.hasLeft(1)
    departure.hasLeft(2)
    #expect(departure.next { _ in 0 } == [3, 4])
    #expect(departure.next { _ in 0 } == [])
  }

  @Test("when one target alone has more pings under way than there is room for, then it leaves alone")
  func large() {
    var departure = PingDeparture(of: 0..<2)
    #expect(departure.next { _ in 60_000 } == [0])
    departure.hasLeft(0)
    #expect(departure.next { _ in 60_000 } == [1])
  }

  @Test("when the event that tells the end of one is missing, then the others are not kept waiting")
  func missing() {
    var departure = PingDeparture(of: 0..<2)
    #expect(departure.next { _ in 2000 } == [0])
    departure.losesCount()
    #expect(departure.next { _ in 2000 } == [1])
    departure.hasLeft(0)
    departure.hasLeft(1)
  }
}
