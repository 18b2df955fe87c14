import Testing

@testable import Coverage

/// Fixes that are too inaccurate, and the windows that they open (docs/algorithm.md, 3 and 4).
@Suite struct AccuracyTests {
  var drive = DriveScript()

  @Test mutating func `when the accuracy is exactly the limit, then the fix counts`() {
    drive.fix(at: 1, accuracy: 15)
    #expect(drive.spans == [Span(1, nil)])
  }

  @Test mutating func `when the accuracy is worse than the limit, then the fix opens no fence`() {
    drive.fix(at: 1, accuracy: 15.0.nextUp)
    #expect(drive.fences.isEmpty)
  }

  @Test(arguments: [nil, -1, -0.001, Double.nan, .infinity, -.infinity])
  mutating func `when the accuracy is unknown or invalid, then the fix opens no fence`(accuracy: Double?) {
    drive.fix(at: 1, accuracy: accuracy)
    #expect(drive.fences.isEmpty)
  }

  @Test mutating func `when the accuracy is zero, then the fix counts`() {
    drive.fix(at: 1, accuracy: 0)
    #expect(drive.spans == [Span(1, nil)])
  }

  @Test func `when the operator sets another limit, then that limit applies`() {
    var strict = DriveScript { $0.accuracyLimit = 4 }
    strict.fix(at: 1, accuracy: 4.5)
    strict.fix(at: 2, accuracy: 4)
    #expect(strict.spans == [Span(2, nil)])
  }

  @Test mutating func `when an inaccurate fix lies far away, then the fence stays open`() {
    drive.fix(at: 1)
    drive.fix(at: 2, north: 5000, accuracy: 16)
    drive.fix(at: 3, north: 6)
    #expect(drive.spans == [Span(1, nil)])
  }

  @Test mutating func `when pings were sent inside an inaccurate window, then they belong to no fence`() {
    drive.fix(at: 1)
    drive.ping(at: 1.5)
    drive.fix(at: 2, accuracy: 50)
    drive.ping(at: 2.5)
    drive.fix(at: 3, accuracy: 60)
    drive.failedPing(at: 3.5)
    drive.fix(at: 4)
    drive.ping(at: 4.5)
    drive.stop(at: 5)
    #expect(drive.spans == [Span(1, 5)])
    #expect(drive.pings == [2])
    #expect(drive.unassigned == 2)
  }

  @Test mutating func `when pings lie on the ends of a window, then they are outside of it`() {
    drive.fix(at: 1)
    drive.fix(at: 2, accuracy: 50)
    drive.ping(at: 2)
    drive.ping(at: 2.000_001)
    drive.fix(at: 3)
    drive.ping(at: 2.999_999)
    drive.ping(at: 3)
    #expect(drive.pings == [2])
    #expect(drive.unassigned == 2)
  }

  @Test mutating func `when a ping was sent before a window, then it counts even if its result arrives later`() {
    drive.fix(at: 1)
    drive.fix(at: 2, accuracy: 50)
    drive.ping(at: 1.9)
    drive.fix(at: 3)
    drive.ping(at: 1.8)
    #expect(drive.pings == [2])
  }

  @Test mutating func `when the result of a ping from a past window arrives late, then it belongs to no fence`() {
    drive.fix(at: 1)
    drive.fix(at: 2, accuracy: 50)
    drive.fix(at: 3)
    drive.fix(at: 4, accuracy: 50)
    drive.fix(at: 5)
    for moment in [2.5, 4.5, 1.5, 3.5, 5.5] { drive.ping(at: moment) }
    #expect(drive.pings == [3])
    #expect(drive.unassigned == 2)
  }

  @Test mutating func `when the window ends far away, then the fence ends there and includes the window`() {
    drive.fix(at: 1)
    drive.fix(at: 2, accuracy: 50)
    drive.fix(at: 10, north: 300)
    #expect(drive.spans == [Span(1, 10), Span(10, nil)])
    drive.ping(at: 5)
    #expect(drive.pings == [0, 0])
  }

  @Test mutating func `when the first fix is inaccurate, then the first precise fix opens the fence`() {
    drive.fix(at: 1, accuracy: 100)
    drive.ping(at: 1.5)
    drive.fix(at: 2)
    drive.ping(at: 2.5)
    #expect(drive.spans == [Span(2, nil)])
    #expect(drive.pings == [1])
    #expect(drive.unassigned == 1)
  }

  @Test mutating func `when the fix is lost, then an inaccurate window opens`() {
    drive.fix(at: 1)
    drive.fixLost(at: 2)
    drive.ping(at: 2.5)
    drive.fix(at: 3)
    drive.ping(at: 3.5)
    #expect(drive.spans == [Span(1, nil)])
    #expect(drive.pings == [1])
  }

  @Test mutating func `when a fix with a position has a negative accuracy, then an inaccurate window opens`() {
    drive.fix(at: 1)
    drive.fix(at: 2, north: 100, accuracy: -5)
    drive.ping(at: 2.5)
    #expect(drive.spans == [Span(1, nil)])
    #expect(drive.unassigned == 1)
  }

  @Test mutating func `when a drive stops in a window, then its fence ends with the drive`() {
    drive.fix(at: 1)
    drive.fix(at: 2, accuracy: 50)
    drive.stop(at: 8)
    #expect(drive.spans == [Span(1, 8)])
  }
}
