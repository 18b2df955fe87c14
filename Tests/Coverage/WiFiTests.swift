import Testing

@testable import Coverage

/// Fences that Wi-Fi has touched are never sent (docs/algorithm.md, 5).
@Suite struct WiFiTests {
  var drive = DriveScript()

  @Test mutating func `when Wi-Fi comes, then the open fence is spoiled and stays open`() {
    drive.fix(at: 1)
    drive.path(at: 2, .wifi)
    #expect(drive.spans == [Span(1, nil)])
    #expect(drive.submittable == [false])
  }

  @Test mutating func `when Wi-Fi goes, then the open fence stays spoiled and the next is clean`() {
    drive.path(at: 0.5, .wifi)
    drive.fix(at: 1)
    drive.path(at: 2, .cellular)
    drive.fix(at: 3, north: 100)
    #expect(drive.submittable == [false, true])
  }

  @Test mutating func `when fences open on Wi-Fi, then they open and end by radius and are spoiled from the start`() {
    drive.fix(at: 1)
    drive.path(at: 2, .wifi)
    drive.fix(at: 3, north: 100)
    drive.fix(at: 4, north: 200)
    drive.path(at: 5, .cellular)
    drive.fix(at: 6, north: 300)
    #expect(drive.spans == [Span(1, 3), Span(3, 4), Span(4, 6), Span(6, nil)])
    #expect(drive.submittable == [false, false, false, true])
  }

  @Test mutating func `when fences ended before Wi-Fi came, then they stay clean`() {
    drive.fix(at: 1)
    drive.fix(at: 2, north: 100)
    drive.path(at: 3, .wifi)
    #expect(drive.submittable == [true, false])
  }

  @Test(arguments: [(Path.cellular, Path.cellular), (.cellular, .offline), (.offline, .cellular)])
  mutating func `when the link changes without Wi-Fi, then nothing is spoiled`(from: Path, to: Path) {
    drive.path(at: 0, from)
    drive.fix(at: 1)
    drive.path(at: 2, to)
    #expect(drive.submittable == [true])
  }

  @Test mutating func `when Wi-Fi is reported again, then that is no transition`() {
    drive.path(at: 0, .wifi)
    drive.fix(at: 1)
    #expect(drive.path(at: 2, .wifi).isEmpty)
    drive.path(at: 3, .cellular)
    drive.fix(at: 4, north: 100)
    #expect(drive.path(at: 5, .cellular).isEmpty)
    #expect(drive.submittable == [false, true])
    #expect(drive.warnings == [Heed(.wifi, 0, 3)])
  }

  @Test mutating func `when Wi-Fi ends without another link, then the time on Wi-Fi is over`() {
    drive.path(at: 0, .wifi)
    drive.path(at: 1, .offline)
    drive.fix(at: 2)
    #expect(drive.submittable == [true])
  }

  @Test func `when a drive starts on Wi-Fi, then its first fence is spoiled`() {
    var drive = DriveScript(path: .wifi)
    drive.fix(at: 1)
    drive.path(at: 2, .cellular)
    drive.fix(at: 3, north: 100)
    #expect(drive.submittable == [false, true])
    #expect(drive.warnings == [Heed(.wifi, 0, 2)])
  }

  @Test
  mutating func
    `when outcomes come on Wi-Fi, then pings that were sent before it count in their fence, and those sent on it pause`()
  {
    drive.fix(at: 1)
    drive.ping(at: 1.5)
    drive.path(at: 2, .wifi)
    drive.ping(at: 1.9)
    drive.ping(at: 2.5)
    drive.path(at: 3, .cellular)
    drive.ping(at: 3.5)
    #expect(drive.pings == [3])
    #expect((drive.engine.pings.outside, drive.engine.pings.paused, drive.engine.pings.all) == (0, 1, 4))
  }

  @Test mutating func `when a ping of the time on Wi-Fi is lost after Wi-Fi, then it still pauses`() {
    drive.fix(at: 1)
    drive.path(at: 2, .wifi)
    drive.path(at: 3, .cellular)
    drive.failedPing(at: 2.5)
    drive.latePing(at: 2.5, milliseconds: 1500)
    drive.failedPing(at: 1.9)
    #expect((drive.pings, drive.engine.pings.paused, drive.fences[0].figures.late) == ([1], 1, 0))
  }

  @Test func `when a drive starts on Wi-Fi, then pings of its first moment pause`() {
    var drive = DriveScript(path: .wifi)
    drive.ping(at: 0)
    #expect((drive.engine.pings.outside, drive.engine.pings.paused) == (0, 1))
  }

  @Test mutating func `when an inaccurate window opens on Wi-Fi, then it still counts after Wi-Fi`() {
    drive.path(at: 0, .wifi)
    drive.fix(at: 1)
    drive.fix(at: 2, accuracy: 50)
    drive.path(at: 3, .cellular)
    drive.ping(at: 3.5)
    #expect(drive.pings == [0])
  }

  @Test mutating func `when a spoiled fence ends, then the closed fence is not submittable`() {
    drive.fix(at: 1)
    drive.path(at: 2, .wifi)
    #expect(drive.fix(at: 3, north: 100) == [.fenceClosed(drive.fences[0])])
    #expect(drive.fences[0].isSubmittable == false)
  }
}
