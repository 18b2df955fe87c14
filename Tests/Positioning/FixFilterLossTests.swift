import Coverage
import Testing

@testable import Positioning

@Suite struct FixFilterLossTests {
  @Test func whenNoUsableReportComesForFiveSeconds_thenOneLostFixIsGiven() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    _ = filter.advance(to: 2)
    #expect(filter.nextDeadline == TestTime.at(6).instant)
    #expect(filter.apply(.usable(mode: 1), at: 5.9).isEmpty)
    let loss = filter.advance(to: 6)
    #expect(loss.fixes.map(\.fix) == [.lost])
    #expect(loss.statuses == [.noFix])
    #expect(filter.advance(to: 100).isEmpty)
    #expect(filter.nextDeadline == nil)
    #expect(filter.counters[.losses] == 1)
  }

  @Test func whenTheFixComesBack_thenItIsReportedAgain() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    _ = filter.advance(to: 10)
    #expect(filter.apply(.usable(), at: 11).statuses == [.positioned(device: "gps0")])
    #expect(filter.advance(to: 12).fixes.count == 1)
  }

  @Test func whenThereNeverWasAFix_thenOnlyTheStatusIsReported() {
    var filter = FixFilter.fresh()
    #expect(filter.advance(to: 5) == [.status(.noFix)])
  }

  @Test func whenTheReceiverIsSlow_thenTwoOfItsCyclesAreAllowed() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.device(GPSDDevice(path: "gps0", cycle: 10)), at: TestTime.at(0))
    _ = filter.apply(.usable(), at: 1)
    _ = filter.advance(to: 2)
    #expect(filter.nextDeadline == TestTime.at(21).instant)
  }

  @Test("when a cycle is out of range, then it does not delay the loss", arguments: [1e9, 10.1, 1e-300, -1])
  func cycle(_ cycle: Double) {
    var filter = FixFilter.fresh()
    _ = filter.apply(.devices([GPSDDevice(path: "gps0", cycle: cycle)]), at: TestTime.at(0))
    _ = filter.apply(.usable(), at: 1)
    _ = filter.advance(to: 2)
    #expect(filter.nextDeadline == TestTime.at(6).instant)
  }

  @Test func whenTheChosenReceiverIsClosed_thenThePositionIsLostAtOnce() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    let closed = GPSDReport.device(GPSDDevice(path: "gps0", isActive: false))
    let events = filter.apply(closed, at: TestTime.at(1.1))
    #expect(events.fixes.map { $0.fix == .lost } == [false, true])
    #expect(filter.apply(closed, at: TestTime.at(1.2)).isEmpty)
  }
}
