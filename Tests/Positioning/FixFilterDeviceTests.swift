import Coverage
import Testing

@testable import Positioning

@Suite struct FixFilterDeviceTests {
  @Test func whenTwoReceiversReport_thenTheFirstWithAFixIsKept() {
    var filter = FixFilter.fresh()
    var events = filter.apply(.usable(mode: 1, device: "a"), at: 0)
    events += (1...8).flatMap { second in
      filter.apply(.usable(device: "b"), at: Double(second))
        + filter.apply(.usable(latitude: 10, device: "a"), at: Double(second) + 0.1)
    }
    #expect(Set(events.fixes.map(\.device)) == ["b"])
    #expect(events.statuses == [.positioned(device: "b")])
    #expect(filter.counters[.otherDevice] == 8)
  }

  @Test func whenTheChosenReceiverIsStale_thenTheOtherOneTakesOver() {
    var filter = FixFilter.fresh()
    var events = filter.apply(.usable(device: "a"), at: 0)
    for second in 1...7 { events += filter.apply(.usable(device: "b"), at: Double(second)) }
    #expect(events.statuses == [.positioned(device: "a"), .noFix, .positioned(device: "b")])
    #expect(events.fixes.map(\.device) == ["a", nil, "b", "b"])
  }

  @Test func whenAReceiverIsConfigured_thenNoOtherCountsEver() {
    var filter = FixFilter.fresh(device: "b")
    let events = (0...20).flatMap { filter.apply(.usable(device: "a"), at: Double($0)) }
    #expect(events.fixes.isEmpty)
    #expect(events.statuses == [.noFix])
  }

  @Test func whenTheServerNamesNoReceiver_thenItsReportsCount() {
    var filter = FixFilter.fresh()
    let events = filter.apply(.usable(device: nil), at: 0) + filter.advance(to: 1)
    #expect(events.statuses == [.positioned(device: nil)])
    #expect(events.fixes.count == 1)
  }

  @Test func whenReceiversComeAndGo_thenTheListIsReportedOnChange() {
    var filter = FixFilter.fresh()
    func statuses(_ report: GPSDReport) -> [PositioningStatus] { filter.apply(report, at: TestTime.at(1)).statuses }
    #expect(statuses(.devices([])) == [.devices([])])
    #expect(statuses(.devices([])) == [])
    #expect(statuses(.device(GPSDDevice(path: "a"))) == [.devices(["a"])])
    #expect(statuses(.device(GPSDDevice(path: "a", cycle: 1))) == [])
    #expect(statuses(.device(GPSDDevice(path: "a", isActive: false))) == [.devices([])])
  }
}
