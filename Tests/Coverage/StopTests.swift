import Testing

@testable import Coverage

/// How a drive ends (docs/algorithm.md, 8).
@Suite struct StopTests {
  var drive = DriveScript()

  @Test mutating func `when the operator stops, then fence and session end at that moment, in that order`() {
    drive.session(at: 0, "T1")
    drive.fix(at: 1)
    let effects = drive.stop(at: 5)
    #expect(drive.spans == [Span(1, 5)])
    #expect(effects == [.fenceClosed(drive.fences[0]), .sessionChanged(drive.engine.sessions[0]), .stopped(.user)])
    #expect(drive.engine.sessions[0].finalized == DriveTime(seconds: 5))
    #expect(drive.end == End(5, .user))
  }

  @Test
  mutating func `when a drive without an answer stops, then its session ends without a name, to be anchored later`() {
    drive.fix(at: 1)
    drive.stop(at: 2)
    let session = drive.engine.sessions[0]
    #expect(session.finalized == DriveTime(seconds: 2))
    #expect(session.testUUID == nil)
    #expect(session.anchor == nil)
  }

  @Test mutating func `when the drive has ended, then later events change nothing`() {
    drive.fix(at: 1)
    drive.stop(at: 2)
    let before = drive
    for effects in [
      drive.fix(at: 3, north: 100), drive.ping(at: 1.5), drive.path(at: 3, .wifi), drive.session(at: 4, "T9"),
      drive.radio(at: 4, "5G/NR"), drive.stop(at: 5), drive.nothing(until: 100_000),
    ] {
      #expect(effects.isEmpty)
    }
    #expect(drive.fences == before.fences)
    #expect(drive.engine.sessions == before.engine.sessions)
    #expect(drive.warnings == before.warnings)
    #expect(drive.end == before.end)
    #expect(drive.deadline == nil)
  }

  @Test func `when the maximum duration is over, then the drive ends at that moment without any event`() {
    var drive = DriveScript { $0.maximumDuration = .seconds(60) }
    drive.fix(at: 1)
    #expect(drive.nothing(until: 59.999_999).isEmpty)
    #expect(drive.end == nil)
    drive.nothing(until: 75)
    #expect(drive.end == End(60, .duration))
    #expect(drive.spans == [Span(1, 60)])
  }

  @Test func `when an event comes at the limit or after it, then the drive ends first and the event is ignored`() {
    for late in [60.0, 60.5, 4000] {
      var drive = DriveScript { $0.maximumDuration = .seconds(60) }
      drive.fix(at: 1)
      drive.fix(at: late, north: 100)
      #expect(drive.spans == [Span(1, 60)])
      #expect(drive.end == End(60, .duration))
    }
  }

  @Test mutating func `when no limit is set, then it is four hours`() {
    drive.fix(at: 1)
    drive.nothing(until: 14_399.999_999)
    #expect(drive.end == nil)
    drive.nothing(until: 14_400)
    #expect(drive.end == End(14_400, .duration))
  }

  @Test mutating func `when the server sets a shorter limit, then it ends the drive, counted from its start`() {
    drive.fix(at: 1)
    drive.session(at: 10, "T1", limit: .seconds(30))
    #expect(drive.deadline == 30)
    drive.nothing(until: 100)
    #expect(drive.end == End(30, .duration))
    #expect(drive.spans == [Span(1, 30)])
  }

  @Test mutating func `when the server's limit is already over, then the drive ends now`() {
    drive.fix(at: 1)
    drive.session(at: 50, "T1", limit: .seconds(30))
    #expect(drive.end == End(50, .duration))
    #expect(drive.spans == [Span(1, 50)])
  }

  @Test func `when the operator's limit is shorter than the server's, then the operator's applies`() {
    var drive = DriveScript { $0.maximumDuration = .seconds(20) }
    drive.fix(at: 1)
    drive.session(at: 2, "T1", limit: .seconds(30))
    drive.nothing(until: 100)
    #expect(drive.end == End(20, .duration))
  }

  @Test mutating func `when no accurate fix ever came, then the drive gives up after half an hour`() {
    drive.fix(at: 1, accuracy: 40)
    drive.nothing(until: 1_799.999_999)
    #expect(drive.end == nil)
    drive.nothing(until: 1_800)
    #expect(drive.end == End(1_800, .insufficientAccuracy))
  }

  @Test mutating func `when no fix came in time, then the drive gives up on Wi-Fi too`() {
    drive.path(at: 1, .wifi)
    drive.fix(at: 1_800)
    #expect(drive.end == End(1_800, .insufficientAccuracy))
    #expect(drive.fences.isEmpty)
  }

  @Test(arguments: [0.0, 900, 1_799.999_999])
  mutating func `when one accurate fix came in time, then the drive never gives up`(moment: Double) {
    drive.fix(at: moment)
    drive.fix(at: moment, accuracy: 500)
    drive.nothing(until: 14_000)
    #expect(drive.end == nil)
  }

  @Test func `when both limits pass in one step, then the earlier limit ends the drive`() {
    var drive = DriveScript {
      $0.maximumDuration = .seconds(100)
      $0.giveUpAfter = .seconds(50)
    }
    drive.nothing(until: 1_000)
    #expect(drive.end == End(50, .insufficientAccuracy))
  }
}
