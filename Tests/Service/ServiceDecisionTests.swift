import Settings
import Testing

@testable import Driving
@testable import Service

/// When the service begins and ends drives.
struct ServiceDecisionTests {
  private let start = ContinuousClock.now

  private func after(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

  private func decision(_ rule: RecordingRule = .always) -> ServiceDecision {
    var decision = ServiceDecision(RecordingDecision(rules: .init(rule: rule)))
    decision.socketStarted()
    return decision
  }

  private func rest(fences: Int, isStored: Bool = false) -> UnsavedDrive {
    var rest = UnsavedDrive()
    (rest.fences, rest.isStored, rest.trouble) = (fences, isStored, "the disk is full")
    return rest
  }

  @Test("when the operator could not stop a drive, then none begins")
  func socket() {
    var decision = ServiceDecision(RecordingDecision(rules: .init(rule: .always)))
    #expect(decision.step(at: start) == nil)
    decision.socketStarted()
    #expect(decision.step(at: start) == .beginDrive)
  }

  @Test("when the host sleeps, then a drive begins after it, and a running one goes on")
  func sleep() {
    var decision = decision()
    decision.sleep()
    #expect(decision.step(at: start) == nil)
    decision.wake()
    #expect(decision.step(at: start) == .beginDrive)
    decision.driveBegan()
    decision.sleep()
    #expect(decision.step(at: start) == nil)
  }

  @Test("when a drive cannot begin, then the next try comes 10 s later, or at once on command")
  func retry() {
    var decision = decision()
    decision.driveCouldNotBegin("no route", at: start)
    #expect(decision.step(at: after(9.9)) == nil)
    #expect(decision.reason(at: after(1)) == "no route")
    #expect(decision.answer(to: .start, at: after(1)) == "start: not recording yet (always recording): no route")
    #expect(decision.step(at: after(10)) == .beginDrive)
    decision.driveCouldNotBegin("no route", at: after(10))
    decision.apply(.start)
    #expect(decision.step(at: after(11)) == .beginDrive)
    decision.driveBegan()
    #expect(decision.answer(to: .start, at: after(12)) == "start: recording (started by command)")
  }

  @Test("when drives end by themselves at once, then the next one waits 10 s")
  func shortDrives() {
    var decision = decision()
    for (isShort, wait) in [(true, 10.0), (false, 0)] {
      decision.driveBegan()
      decision.driveEnded(wasShort: isShort, at: start)
      decision.driveWasPutAway()
      let first = decision.step(at: start)
      #expect((first == .beginDrive) == (wait == 0))
      #expect(decision.step(at: after(wait)) == .beginDrive)
    }
  }

  @Test("when a drive is no longer wanted, then it ends, and its obstacle is forgotten")
  func unwanted() {
    var decision = decision(.command)
    decision.apply(.start)
    decision.driveCouldNotBegin("no route", at: start)
    decision.apply(.stop)
    #expect(decision.step(at: start) == nil)
    #expect(decision.reason(at: start) == "stopped by command")
    decision.apply(.start)
    decision.driveBegan()
    #expect(decision.step(at: start) == nil)
    #expect(decision.state == .recording)
    decision.apply(.pause)
    #expect(decision.step(at: start) == .endDrive)
    decision.driveEnded(wasShort: false, at: start)
    #expect(decision.step(at: start) == nil)
    #expect(decision.state == .idle)
  }

  @Test("when the service stops, then it is over when the drive is on the disk, or the disk refused it for 3 s")
  func stop() {
    var decision = decision()
    decision.driveBegan()
    decision.stop(at: start)
    decision.stop(at: after(2))
    #expect(decision.step(at: after(2)) == .endDrive)
    #expect(decision.state == .stopping)
    decision.driveEnded(wasShort: false, at: after(2))
    #expect(decision.unsaved == UnsavedDrive())
    #expect(!decision.refused(rest(fences: 3), "3 fences", at: after(2.9)))
    #expect((decision.isOver, decision.reason(at: after(2.9))) == (false, "3 fences"))
    #expect(decision.refused(rest(fences: 3), "3 fences", at: after(3)))
    #expect(decision.unsaved?.endangered == 3)
    decision.driveWasPutAway()
    #expect(decision.isOver)
    #expect(decision.step(at: after(4)) == nil)
    #expect(decision.unsaved == nil)
  }

  @Test("when the next drive is wanted, then it waits for fences that the disk refuses, and not for the end of a log")
  func nextDrive() {
    var decision = decision()
    decision.driveBegan()
    decision.driveEnded(wasShort: false, at: start)
    #expect(!decision.refused(rest(fences: 1), "1 fence", at: after(3600)))
    #expect(decision.step(at: after(3600)) == nil)
    #expect(decision.refused(rest(fences: 0, isStored: true), "10 lines", at: after(3600)))
    decision.apply(.pause)
    #expect(!decision.refused(rest(fences: 0, isStored: true), "10 lines", at: after(3600)))
  }
}
