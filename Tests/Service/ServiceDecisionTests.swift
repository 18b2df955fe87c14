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
    var step: ServiceDecision.Step?
    var decision = ServiceDecision(RecordingDecision(rules: .init(rule: .always)))
    step = decision.step(at: start)
    #expect(step == nil)
    decision.socketStarted()
    step = decision.step(at: start)
    #expect(step == .beginDrive)
  }

  @Test("when the host sleeps, then a drive begins after it, and a running one goes on")
  func sleep() {
    var step: ServiceDecision.Step?
    var decision = decision()
    decision.sleep()
    step = decision.step(at: start)
    #expect(step == nil)
    decision.wake()
    step = decision.step(at: start)
    #expect(step == .beginDrive)
    decision.driveBegan()
    decision.sleep()
    step = decision.step(at: start)
    #expect(step == nil)
  }

  @Test("when a drive cannot begin, then the next try comes 10 s later, or at once on command")
  func retry() {
    var step: ServiceDecision.Step?
    var decision = decision()
    decision.driveCouldNotBegin("no route", at: start)
    step = decision.step(at: after(9.9))
    #expect(step == nil)
    #expect(decision.reason(at: after(1)) == "no route")
    #expect(decision.answer(to: .start, at: after(1)) == "start: not recording yet (always recording): no route")
    step = decision.step(at: after(10))
    #expect(step == .beginDrive)
    decision.driveCouldNotBegin("no route", at: after(10))
    decision.apply(.start)
    step = decision.step(at: after(11))
    #expect(step == .beginDrive)
    decision.driveBegan()
    #expect(decision.answer(to: .start, at: after(12)) == "start: recording (started by command)")
  }

  @Test("when drives end by themselves at once, then the next one waits 10 s")
  func shortDrives() {
    var step: ServiceDecision.Step?
    for (isShort, wait) in [(true, 10.0), (false, 0)] {
      var decision = decision()
      decision.driveBegan()
      decision.driveEnded(wasShort: isShort, at: start)
      decision.driveWasPutAway()
      let first = decision.step(at: start)
      #expect((first == .beginDrive) == (wait == 0))
      step = decision.step(at: after(wait))
      #expect(step == .beginDrive)
    }
  }

  @Test("when a drive is no longer wanted, then it ends, and its obstacle is forgotten")
  func unwanted() {
    var step: ServiceDecision.Step?
    var decision = decision(.command)
    decision.apply(.start)
    decision.driveCouldNotBegin("no route", at: start)
    decision.apply(.stop)
    step = decision.step(at: start)
    #expect(step == nil)
    #expect(decision.reason(at: start) == "stopped by command")
    decision.apply(.start)
    decision.driveBegan()
    step = decision.step(at: start)
    #expect(step == nil)
    #expect(decision.state == .recording)
    decision.apply(.pause)
    step = decision.step(at: start)
    #expect(step == .endDrive)
    decision.driveEnded(wasShort: false, at: start)
    step = decision.step(at: start)
    #expect(step == nil)
    #expect(decision.state == .idle)
  }

  @Test("when the service stops, then it is over when the drive is on the disk, or the disk refused it for 3 s")
  func stop() {
    var step: ServiceDecision.Step?
    var isGivenUp: Bool
    var decision = decision()
    decision.driveBegan()
    decision.stop(at: start)
    decision.stop(at: after(2))
    step = decision.step(at: after(2))
    #expect(step == .endDrive)
    #expect(decision.state == .stopping)
    decision.driveEnded(wasShort: false, at: after(2))
    #expect(decision.unsaved == UnsavedDrive())
    isGivenUp = decision.refused(rest(fences: 3), "3 fences", at: after(2.9))
    #expect(!isGivenUp)
    #expect((decision.isOver, decision.reason(at: after(2.9))) == (false, "3 fences"))
    #expect(decision.failure == nil)
    isGivenUp = decision.refused(rest(fences: 3), "3 fences", at: after(3))
    #expect(isGivenUp)
    #expect(decision.unsaved?.endangered == 3)
    #expect(decision.failure is RecordingError)
    decision.driveWasPutAway()
    #expect(decision.isOver)
    step = decision.step(at: after(4))
    #expect(step == nil)
    #expect(decision.unsaved == nil)
  }

  @Test("when the next drive is wanted, then it waits for fences that the disk refuses, and not for the end of a log")
  func nextDrive() {
    var step: ServiceDecision.Step?
    var isGivenUp: Bool
    var decision = decision()
    decision.driveBegan()
    decision.driveEnded(wasShort: false, at: start)
    isGivenUp = decision.refused(rest(fences: 1), "1 fence", at: after(3600))
    #expect(!isGivenUp)
    step = decision.step(at: after(3600))
    #expect(step == nil)
    isGivenUp = decision.refused(rest(fences: 0, isStored: true), "10 lines", at: after(3600))
    #expect(isGivenUp)
    decision.apply(.pause)
    isGivenUp = decision.refused(rest(fences: 0, isStored: true), "10 lines", at: after(3600))
    #expect(!isGivenUp)
  }
}
