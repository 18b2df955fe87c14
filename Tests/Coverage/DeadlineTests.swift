import Testing

@testable import Coverage

/// The engine's next deadline is all that a caller needs to advance it in time.
@Suite struct DeadlineTests {
  var drive = DriveScript()

  @Test mutating func `when a drive goes on, then its deadlines are the warning, the give-up time and the duration`() {
    #expect(drive.deadline == 3)
    drive.nothing(until: 3)
    #expect(drive.deadline == 1_800)
    drive.fix(at: 10)
    #expect(drive.deadline == 14_400)
    drive.stop(at: 11)
    #expect(drive.deadline == nil)
  }

  @Test mutating func `when the engine advances from deadline to deadline, then the drive ends as in one step`() {
    var stride = drive
    stride.nothing(until: 20_000)
    var steps = 0
    while let deadline = drive.deadline, steps < 10 {
      drive.nothing(until: deadline)
      steps += 1
    }
    #expect(steps == 2)
    #expect(drive.end == stride.end)
    #expect(drive.warnings == stride.warnings)
    #expect(drive.effects == stride.effects)
  }

  @Test mutating func `when the engine advances to a past time, then nothing changes`() {
    drive.fix(at: 10)
    #expect(drive.nothing(until: 5).isEmpty)
    #expect(drive.engine.now == DriveTime(seconds: 10))
  }
}
