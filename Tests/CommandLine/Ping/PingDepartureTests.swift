import Testing

@testable import Service
@testable import coverage_probe

/// In which portions targets are removed.
struct PingDepartureTests {
  @Test("when many pings are under way, then as many targets leave as there is room for, and the next follow later")
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

  @Test("when the event of a target's end is missing, then the next target does not wait for it")
  func missing() {
    var departure = PingDeparture(of: 0..<2)
    #expect(departure.next { _ in 2000 } == [0])
    departure.losesCount()
    #expect(departure.next { _ in 2000 } == [1])
    departure.hasLeft(0)
    departure.hasLeft(1)
  }
}
