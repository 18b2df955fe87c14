import Testing

@testable import Coverage

/// Time never runs backwards: the time of a replay is the greatest `at` so far (docs/drive-log.md).
@Suite struct TimeTests {
  var drive = DriveScript()

  @Test mutating func `when a fix of the past comes, then no fence ends before it began`() {
    drive.fix(at: 10)
    drive.fix(at: 5, north: 100)
    #expect(drive.spans == [Span(10, 10), Span(10, nil)])
  }

  @Test mutating func `when a late ping comes, then time does not go back`() {
    drive.fix(at: 10)
    drive.ping(at: 2)
    #expect(drive.engine.now == DriveTime(seconds: 10))
    drive.fix(at: 11, north: 100)
    #expect(drive.spans == [Span(10, 11), Span(11, nil)])
  }

  @Test
  mutating func
    `when a ping has counted, then no fence ends before it, and each ping lies in the fence that it counts in`()
  {
    drive.session(at: 0, "T1")
    drive.fix(at: 5)
    drive.ping(at: 20)
    drive.session(at: 10, "T2")
    drive.fix(at: 11)
    drive.ping(at: 20.2)
    #expect(drive.spans == [Span(5, 20), Span(20, nil)])
    #expect(drive.pings == [1, 1])
  }

  @Test mutating func `when a stop of the past comes, then the drive does not end before its last fence began`() {
    drive.fix(at: 10)
    drive.stop(at: 4)
    #expect(drive.spans == [Span(10, 10)])
    #expect(drive.end == End(10, .user))
  }

  @Test mutating func `when an answer of the past comes, then the fence does not end before it began`() {
    drive.session(at: 0, "T1")
    drive.fix(at: 10)
    drive.session(at: 4, "T2")
    #expect(drive.spans == [Span(10, 10)])
    #expect(drive.engine.sessions[1].started == DriveTime(seconds: 10))
  }

  @Test mutating func `when inaccurate fixes come out of order, then windows do not run backwards`() {
    drive.fix(at: 1)
    drive.fix(at: 10, accuracy: 50)
    drive.fix(at: 8)
    drive.ping(at: 9)
    drive.ping(at: 11)
    #expect(drive.pings == [2])
  }

  @Test(arguments: [3.0, 100])
  func `when a warning falls due before a fix of the past comes, then it does not move the fence`(delay: Double) {
    var drive = DriveScript { $0.warningAfter = .seconds(delay) }
    drive.ping(at: 3.5)
    drive.fix(at: 2.8)
    var unwarned = DriveScript { $0.warningAfter = .seconds(1_000) }
    unwarned.ping(at: 3.5)
    unwarned.fix(at: 2.8)
    #expect(drive.spans == unwarned.spans)
  }

  @Test mutating func `when a ping is the latest event, then the engine's time is that of its sending`() {
    drive.fix(at: 1)
    drive.ping(at: 12.5)
    #expect(drive.engine.now == DriveTime(seconds: 12.5))
  }

  @Test(arguments: [(-1, -1), (-1000, -1), (-1001, -2), (-999, -1), (0, 0), (999, 0), (1000, 1), (1_999, 1)])
  func `when wall time is cut to milliseconds, then it is rounded down`(microseconds: Int64, whole: Int64) {
    #expect(WallTime(microseconds: microseconds).milliseconds == whole)
  }

  @Test func `when drive times are added and subtracted, then they are exact to the microsecond`() {
    let time = DriveTime(microseconds: 1_234_567)
    #expect(time + .microseconds(1) == DriveTime(microseconds: 1_234_568))
    #expect(time - DriveTime(microseconds: 2_000_000) == .microseconds(-765_433))
    #expect(DriveTime(.nanoseconds(1_999)) == DriveTime(microseconds: 1))
    #expect(DriveTime(.nanoseconds(-1_999)) == DriveTime(microseconds: -1))
    #expect(WallTime(microseconds: 5) + time == WallTime(microseconds: 1_234_572))
    #expect((WallTime(microseconds: 5) + time).since(WallTime(microseconds: 5)) == time)
    #expect(Duration.microseconds(-1_999).inMilliseconds == -1)
    #expect(Duration.seconds(1.5).inNanoseconds == 1_500_000_000)
  }

  @Test("when waits grow, then they double from the second on, up to the greatest, and start again after a reset")
  func wait() {
    var wait = DoublingWait(first: .seconds(1), second: .seconds(10), greatest: .seconds(120))
    let waits = (0..<8).map { _ in wait.next() }
    #expect(waits == [1, 10, 20, 40, 80, 120, 120, 120].map { .seconds($0) })
    wait.reset()
    #expect(wait.next() == .seconds(1))
    #expect(wait.next() == .seconds(10))
    var short = DoublingWait(first: .seconds(9), greatest: .seconds(4))
    #expect((0..<3).map { _ in short.next() } == [.seconds(4), .seconds(4), .seconds(4)])
    var long = DoublingWait(first: .seconds(86_400), greatest: .seconds(86_400 * 365))
    for _ in 0..<10_000 { _ = long.next() }
    #expect(long.next() == .seconds(86_400 * 365), "nothing overflows")
  }
}
