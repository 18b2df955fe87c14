import Testing

@testable import Coverage

/// Opening and leaving (docs/algorithm.md, 3).
@Suite struct FenceTests {
  var drive = DriveScript()

  @Test mutating func `when the first precise fix comes, then it opens a fence at once, centred on it`() throws {
    drive.fix(at: 1, north: 12, east: -7, accuracy: 8, speed: 4)
    let fence = try #require(drive.engine.openFence)
    #expect(drive.spans == [Span(1, nil)])
    #expect(fence.centre == Ground.vienna.place(north: 12, east: -7))
    #expect(fence.radius == 26)
    #expect(fence.duration == nil)
  }

  @Test mutating func `when only pings have come, then there is no fence`() {
    drive.ping(at: 1)
    drive.nothing(until: 10)
    #expect(drive.fences.isEmpty)
  }

  @Test mutating func `when a fix lies within the circle, then the fence stays`() {
    drive.fix(at: 1)
    drive.fix(at: 2, north: 19.99)
    drive.fix(at: 3, east: -19.99)
    drive.fix(at: 4, north: 14.1, east: 14.1)
    #expect(drive.spans == [Span(1, nil)])
  }

  @Test mutating func `when a fix lies beyond the circle, then one fence ends and the next begins in the same moment`()
  {
    drive.fix(at: 1)
    drive.fix(at: 5.25, north: 20.01)
    #expect(drive.spans == [Span(1, 5.25), Span(5.25, nil)])
    #expect(drive.fences[1].centre == Ground.vienna.place(north: 20.01, east: 0))
    #expect(drive.fences[0].duration == .milliseconds(4250))
  }

  @Test func `when no ping was due in a fence, then it is no dead zone; a ping that has no answer makes it one`() {
    var slow = DriveScript { $0.pingInterval = .seconds(10) }
    for (second, north) in zip([1, 5, 9, 20.0], [0, 40, 80, 120.0]) { slow.fix(at: second, north: north) }
    #expect(slow.fences.map(\.isSubmittable) == [false, false, true, true])
    slow.failedPing(at: 6)
    #expect(slow.fences.map(\.isSubmittable) == [false, true, true, true])
  }

  @Test func `when a fix lies exactly on the circle, then the fence is left`() throws {
    let centre = try #require(Ground.vienna.place(north: 0, east: 0))
    let fix = try #require(Ground.vienna.place(north: 30, east: 40))
    var onCircle = DriveScript { $0.minimumRadius = centre.distance(to: fix) }
    onCircle.fix(at: 1)
    onCircle.fix(at: 2, north: 30, east: 40)
    #expect(onCircle.spans == [Span(1, 2), Span(2, nil)])

    var within = DriveScript { $0.minimumRadius = centre.distance(to: fix).nextUp }
    within.fix(at: 1)
    within.fix(at: 2, north: 30, east: 40)
    #expect(within.spans == [Span(1, nil)])
  }

  @Test mutating func `when later fixes are better or faster, then the radius stays as it was at the opening`() {
    drive.fix(at: 1, accuracy: 15)
    drive.fix(at: 2, north: 30, accuracy: 1)
    #expect(drive.spans == [Span(1, nil)])
    drive.fix(at: 3, north: 39, accuracy: 5, speed: 60)
    #expect(drive.fences.map(\.radius) == [40])
    drive.fix(at: 4, north: 41, accuracy: 5, speed: 60)
    #expect(drive.fences.map(\.radius) == [40, 60])
  }

  @Test mutating func `when the position creeps away, then distance counts from the centre, not from the last fix`() {

    for second in 0...10 { drive.fix(at: Double(second), north: 5.25 * Double(second)) }
    #expect(drive.spans == [Span(0, 4), Span(4, 8), Span(8, nil)])
  }

  @Test mutating func `when the position jumps far, then one fence ends and one begins, with no fence between`() {
    drive.fix(at: 1)
    drive.fix(at: 2, north: 900_000)
    drive.fix(at: 3, north: 900_001)
    drive.fix(at: 4)
    #expect(drive.spans == [Span(1, 2), Span(2, 4), Span(4, nil)])
    #expect(drive.closed == [0, 1])
  }

  @Test mutating func `when two distant fixes have the same timestamp, then the first fence has no duration`() {
    drive.fix(at: 1)
    drive.fix(at: 1, north: 100)
    drive.ping(at: 1)
    #expect(drive.spans == [Span(1, 1), Span(1, nil)])
    #expect(drive.fences[0].duration == .zero)
    #expect(drive.unassigned == 1)
  }

  @Test mutating func `when fences follow each other, then they are numbered in order of entry`() {
    for step in 0..<5 { drive.fix(at: Double(step), north: 100 * Double(step)) }
    #expect(drive.fences.map(\.number) == [0, 1, 2, 3, 4])
    #expect(drive.engine.openFence?.number == 4)
  }
}
