import Coverage
import Testing

@testable import SpeedTest

/// Pauses, sleep, suspends and their notices. The waiting time is 5 minutes, the distance 250 m where it counts.
@Suite struct LoopActivityTests {
  private func timed(_ count: Int = 9) throws -> LoopRig {
    LoopRig(try LoopRules(count: count, every: .seconds(300), distance: nil))
  }

  private func afterFirstTest(distance: Double? = nil) throws -> LoopRig {
    var rig = LoopRig(try LoopRules(count: 9, every: .seconds(300), distance: distance))
    rig.fix(0)
    rig.send(.completed(1))
    return rig
  }

  @Test("when the loop is paused during a test, then the test is aborted, and the waiting time counts from its start")
  func pausedInTest() throws {
    var rig = try timed()
    rig.send(.tick)
    #expect(rig.send(.pause, after: 10) == [.abortTest(number: 1, .paused)])
    #expect(rig.coordinator.memory.stage == .waiting)
    #expect(rig.send(.resume, after: 10).isEmpty)
    #expect(rig.send(.tick, after: 279).isEmpty)
    #expect(rig.send(.tick, after: 1) == [.start(2)])
    #expect(rig.coordinator.memory.tally.aborted == 1)
  }

  @Test("when a test is due while the loop is paused, then one notice is given, and the test starts on resume")
  func dueWhilePaused() throws {
    var rig = try afterFirstTest()
    rig.send(.pause)
    #expect(rig.send(.tick, after: 299).isEmpty)
    #expect(rig.send(.tick, after: 1) == [.notice(2, .inactive)])
    for _ in 0..<10 { #expect(rig.send(.tick, after: 600).isEmpty) }
    #expect(rig.send(.resume) == [.start(2)])
  }

  @Test("when the loop begins paused, then its first test starts on resume")
  func beginsPaused() throws {
    var rig = try timed()
    #expect(rig.send(.pause) == [.notice(1, .inactive)])
    #expect(rig.send(.resume, after: 1) == [.start(1)])
  }

  @Test("when no test is due on resume, then no test starts and no notice is given")
  func shortPause() throws {
    var rig = try afterFirstTest()
    #expect(rig.send(.pause).isEmpty)
    #expect(rig.send(.resume, after: 200).isEmpty)
    #expect(rig.send(.tick, after: 100) == [.start(2)])
  }

  @Test(
    "when the device moves while the loop is paused, then the distance is reached there, and the way back does not undo it"
  )
  func movedWhilePaused() throws {
    var rig = try afterFirstTest(distance: 250)
    rig.send(.pause)
    #expect(rig.fix(300, after: 20) == [.notice(2, .inactive)])
    #expect(rig.fix(0, after: 20).isEmpty)
    #expect(rig.send(.resume, after: 1) == [.start(2)])
  }

  @Test("when the notices of two tests follow each other closely, then the second is given 10 minutes after the first")
  func spaced() throws {
    var rig = try afterFirstTest(distance: 250)
    rig.send(.pause)
    #expect(rig.fix(300, after: 20) == [.notice(2, .inactive)])
    #expect(rig.send(.resume) == [.start(2)])
    #expect(rig.send(.pause, after: 1) == [.abortTest(number: 2, .paused)])
    #expect(rig.fix(0, after: 1).isEmpty)
    #expect(rig.wakeAt == .seconds(1000 + 20 + 600))
    #expect(rig.send(.tick, after: 597.9).isEmpty)
    #expect(rig.send(.tick, after: 0.1) == [.notice(3, .inactive)])
  }

  @Test("when a withheld notice is no longer true, then it is not given")
  func withheld() throws {
    var rig = try afterFirstTest(distance: 250)
    rig.send(.pause)
    rig.fix(300, after: 20)
    rig.send(.resume)
    rig.send(.pause, after: 1)
    rig.fix(0, after: 1)
    #expect(rig.send(.resume) == [.start(3)])
    #expect(rig.send(.tick, after: 590).isEmpty)
  }

  @Test("when the reason of a hold changes, then the other reason has its own notice, at the usual interval")
  func otherReason() throws {
    var rig = try afterFirstTest(distance: 250)
    rig.send(.pause)
    #expect(rig.send(.tick, after: 300) == [.notice(2, .inactive)])
    #expect(rig.send(.resume).isEmpty)
    #expect(rig.send(.tick, after: 599).isEmpty)
    #expect(rig.send(.tick, after: 1) == [.notice(2, .noFix)])
    #expect(rig.send(.pause, after: 600).isEmpty)
  }

  @Test("when the host is about to sleep, then the running test is aborted and none starts before it is awake")
  func sleep() throws {
    var rig = try timed()
    rig.send(.tick)
    #expect(rig.send(.sleep, after: 1) == [.abortTest(number: 1, .asleep)])
    rig.suspend(3600)
    #expect(rig.send(.wake) == [.start(2)])
  }

  @Test("when a suspend was not announced, then the running test is aborted and the suspended time counts")
  func suspend() throws {
    var rig = try timed()
    rig.send(.tick)
    rig.suspend(200)
    #expect(rig.send(.tick) == [.abortTest(number: 1, .suspended)])
    rig.suspend(99)
    #expect(rig.send(.tick).isEmpty)
    rig.suspend(1)
    #expect(rig.send(.completed(1)) == [.start(2)])
  }

  @Test("when the difference of the clocks grows by less than a second, then that is no suspend")
  func jitter() throws {
    var rig = try timed()
    rig.send(.tick)
    rig.suspend(0.9)
    #expect(rig.send(.tick).isEmpty)
    // The program was interrupted for 2 s between its readings of the clocks: CLOCK_BOOTTIME is too early, and right at
    // the next reading.
    rig.suspend(-2)
    #expect(rig.send(.tick).isEmpty)
    rig.suspend(2)
    #expect(rig.send(.tick).isEmpty)
    rig.suspend(1)
    #expect(rig.send(.tick) == [.abortTest(number: 1, .suspended)])
  }

  @Test("when the host was suspended, then the earlier fix no longer counts")
  func fixBeforeSuspend() throws {
    var rig = try afterFirstTest(distance: 250)
    rig.fix(0, after: 298)
    rig.suspend(2)
    #expect(rig.send(.tick) == [.notice(2, .noFix)])
    #expect(rig.fix(0) == [.start(2)])
  }

  @Test("when the message that the host is awake is lost, then the jump between the clocks ends the sleep")
  func lostWake() throws {
    var rig = try timed()
    rig.send(.sleep)
    rig.suspend(60)
    #expect(rig.send(.tick) == [.start(1)])
  }

  @Test("when an announced sleep does not come, then the loop is active again after a minute")
  func sleepThatFails() throws {
    var rig = try timed()
    #expect(rig.send(.sleep) == [.notice(1, .inactive)])
    #expect(rig.wakeAt == .seconds(1060))
    rig.send(.sleep, after: 30)
    #expect(rig.send(.tick, after: 29.9).isEmpty)
    #expect(rig.send(.tick, after: 0.1) == [.start(1)])
  }

  @Test(
    "when the process stood still during a test, then the test is aborted, the next one starts, and no notice is given")
  func stalled() throws {
    var rig = try timed()
    rig.send(.tick)
    #expect(rig.send(.tick, after: 300).isEmpty)
    #expect(rig.send(.stalled(number: 1)) == [.abortTest(number: 1, .suspended), .start(2)])
    #expect(rig.send(.completed(1)).isEmpty)
    #expect(rig.send(.tick, after: 10).isEmpty)
    #expect(rig.send(.completed(2)).isEmpty)
    #expect(rig.send(.stalled(number: 2), after: 10).isEmpty, "no test is running")
  }

  @Test("when the end of a suspended test comes after the start of the next one, then the next one runs on")
  func stalledBefore() throws {
    var rig = try timed()
    rig.send(.tick)
    rig.suspend(400)
    #expect(rig.send(.tick) == [.abortTest(number: 1, .suspended), .start(2)])
    #expect(rig.send(.stalled(number: 1)).isEmpty)
    #expect(rig.send(.completed(1)).isEmpty)
    #expect(rig.coordinator.memory.stage == .testing)
  }

  @Test(
    "when another link than a mobile network carries a due test, then it waits, with one notice that names the link")
  func otherLink() throws {
    var rig = try timed()
    let words = "the route leaves by wlan0, a Wi-Fi link"
    let effects = rig.send(.link(otherLink: words))
    guard case .notice(let notice)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(notice.hold == .otherLink)
    #expect(
      notice.description == """
        test 1 of the loop is due, but \(words): it starts on a mobile network, or with loop.links: any
        """)
    for _ in 0..<10 { #expect(rig.send(.tick, after: 600).isEmpty) }
    #expect(rig.send(.link(otherLink: nil)) == [.start(1)])
    #expect(rig.send(.link(otherLink: words), after: 1).isEmpty, "a running test is marked, not aborted")
    #expect(rig.send(.completed(1), after: 10).isEmpty)
  }

  @Test("when the rules allow other links, then a test starts on Wi-Fi")
  func anyLink() throws {
    var rig = LoopRig(try LoopRules(count: 9, every: .seconds(300), distance: nil, allowsOtherLinks: true))
    #expect(rig.send(.link(otherLink: "words")) == [.start(1)])
  }

  @Test("when the loop is paused and the host sleeps, then the test starts when both are over")
  func both() throws {
    var rig = try timed()
    rig.send(.pause)
    rig.send(.sleep)
    rig.suspend(60)
    #expect(rig.send(.wake).isEmpty)
    #expect(rig.send(.resume) == [.start(1)])
    #expect(rig.send(.pause) == [.abortTest(number: 1, .paused)])
    rig.send(.sleep, after: 299)
    #expect(rig.send(.resume, after: 2).isEmpty)
    #expect(rig.send(.wake, after: 2) == [.start(2)])
  }

  @Test("when the last test is aborted, then the loop ends: an aborted test counts")
  func lastAborted() throws {
    var rig = try timed(1)
    rig.send(.tick)
    #expect(rig.send(.pause) == [.abortTest(number: 1, .paused), .ended(.count)])
  }

  @Test("when a notice is given, then its line names the test, the reason and the remedy")
  func lines() {
    for hold in LoopHold.allCases {
      let notice = LoopNotice(number: 4, hold: hold, used: 512, limit: 500, isDateKnown: true)
      #expect(notice.description.hasPrefix("test 4 of the loop is due, but "))
      #expect(!notice.description.contains("\n"))
    }
    let undated = LoopNotice(number: 4, hold: .dayLimit, used: 512, limit: 500, isDateKnown: false)
    #expect(
      undated.description == """
        test 4 of the loop is due, but tests used 512 of 500 bytes for this day: it starts in the next day (UTC), or with a higher \
        data limit; the date is not known, so that no new day begins: check the clock
        """)
  }
}
