import Testing

@testable import Coverage

/// A ping belongs to the fence in which it was sent (docs/algorithm.md, 4).
@Suite struct PingTests {
  var drive = DriveScript()

  @Test mutating func `when pings succeed and fail in a fence, then both count and only answers are averaged`() {
    drive.fix(at: 1)
    drive.ping(at: 1.1, milliseconds: 10)
    drive.failedPing(at: 1.2)
    drive.ping(at: 1.3, milliseconds: 21)
    let fence = drive.fences[0]
    #expect(fence.pings == 3)
    #expect(fence.pingsAnswered == 2)
    #expect(fence.rttSumNanoseconds == 31_000_000)
    #expect(fence.meanRTTNanoseconds == 15_500_000)
    #expect(drive.engine.pings.all == 3)
    #expect(drive.engine.pings.answered == 2)
  }

  @Test mutating func `when no ping was answered, then there is no mean`() {
    drive.fix(at: 1)
    #expect(drive.fences[0].meanRTTNanoseconds == nil)
    drive.failedPing(at: 1.5)
    #expect(drive.fences[0].meanRTTNanoseconds == nil)
  }

  @Test mutating func `when a ping is answered in the next fence, then it belongs to the fence in which it was sent`() {
    drive.fix(at: 1)
    drive.fix(at: 2, north: 100)
    let effects = drive.ping(at: 1.9)
    #expect(drive.pings == [1, 0])
    #expect(effects == [.fenceRevised(drive.fences[0])])
  }

  @Test mutating func `when pings come out of order over several fences, then each counts in its own fence`() {
    for step in 1...4 { drive.fix(at: Double(step), north: 100 * Double(step)) }
    for moment in [4.5, 1.5, 3.5, 2.5, 1.25, 3.25] { drive.ping(at: moment) }
    #expect(drive.pings == [2, 1, 2, 1])
  }

  @Test mutating func `when a ping was sent exactly at entry or exit, then it belongs to no fence`() {
    drive.fix(at: 1)
    drive.ping(at: 1)
    drive.fix(at: 2, north: 100)
    drive.ping(at: 2)
    drive.ping(at: 1.000_001)
    drive.ping(at: 1.999_999)
    drive.ping(at: 2.000_001)
    #expect(drive.pings == [2, 1])
    #expect(drive.unassigned == 2)
  }

  @Test mutating func `when a ping was sent before the first fence, then it belongs to no fence`() {
    drive.ping(at: 0.5)
    drive.fix(at: 1)
    drive.ping(at: 0.9)
    #expect(drive.pings == [0])
    #expect(drive.unassigned == 2)
    #expect(drive.engine.pings.all == 2)
  }

  @Test mutating func `when a ping was sent between fences, then it belongs to no fence`() {
    drive.session(at: 0, "T1")
    drive.fix(at: 1)
    drive.session(at: 2, "T2")
    drive.ping(at: 2.5)
    drive.fix(at: 3)
    drive.ping(at: 2.6)
    #expect(drive.spans == [Span(1, 2), Span(3, nil)])
    #expect(drive.pings == [0, 0])
    #expect(drive.unassigned == 2)
  }

  @Test mutating func `when an outcome comes after the end of the drive, then it changes nothing`() {
    drive.fix(at: 1)
    drive.stop(at: 2)
    let fences = drive.fences
    #expect(drive.ping(at: 1.5).isEmpty)
    #expect(drive.fences == fences)
    #expect(drive.engine.pings.all == 0)
  }

  @Test mutating func `when a ping counts in an open fence, then there is no effect to store yet`() {
    drive.fix(at: 1)
    #expect(drive.ping(at: 1.5).isEmpty)
  }
}
