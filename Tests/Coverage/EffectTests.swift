import Testing

@testable import Coverage

/// Effects: one for the end of each fence, and one for each late change.
@Suite struct EffectTests {
  var drive = DriveScript()

  @Test mutating func `when fences end in every possible way, then each end is one effect`() {
    drive.session(at: 0, "T1")
    drive.fix(at: 1)
    drive.fix(at: 2, north: 100)  // left
    drive.session(at: 3, "T2")  // ended by a session
    drive.fix(at: 4)
    drive.path(at: 5, .wifi)  // spoiled
    drive.stop(at: 6)  // ended by the stop
    #expect(drive.closed == [0, 1, 2])
  }

  @Test mutating func `when a fence ends, then the fence in the effect is complete except for late pings`() {
    drive.fix(at: 1)
    drive.ping(at: 1.5)
    let effects = drive.fix(at: 2, north: 100)
    #expect(effects == [.fenceClosed(drive.fences[0])])
    #expect(drive.fences[0].exited == DriveTime(seconds: 2))
    #expect(drive.fences[0].pings == 1)
  }

  @Test mutating func `when late pings arrive, then each revises the ended fence without ending it again`() {
    drive.fix(at: 1)
    drive.fix(at: 2, north: 100)
    let first = drive.ping(at: 1.5, milliseconds: 10)
    let second = drive.failedPing(at: 1.6)
    guard case .fenceRevised(let once) = first.first, case .fenceRevised(let twice) = second.first else {
      Issue.record("expected two revisions, got \(first) and \(second)")
      return
    }
    #expect([once.pings, twice.pings] == [1, 2])
    #expect([once.pingsAnswered, twice.pingsAnswered] == [1, 1])
    #expect(once.exited == DriveTime(seconds: 2))
    #expect(drive.closed == [0])
  }

  @Test mutating func `when there is nothing to store, then there is no effect`() {
    #expect(drive.fix(at: 1).isEmpty)
    #expect(drive.fix(at: 2).isEmpty)
    #expect(drive.fix(at: 3, accuracy: 50).isEmpty)
    #expect(drive.radio(at: 4, "4G/LTE").isEmpty)
    #expect(drive.ping(at: 0.5).isEmpty)
    #expect(drive.nothing(until: 100).isEmpty)
  }

  @Test mutating func `when the limit passes before an event, then only the end of the drive has effects`() {
    drive.fix(at: 1)
    let effects = drive.session(at: 14_500, "T1")
    #expect(
      effects == [
        .fenceClosed(drive.fences[0]), .sessionChanged(drive.engine.sessions[0]), .stopped(.duration),
      ])
    #expect(drive.engine.sessions[0].testUUID == nil)
  }
}
