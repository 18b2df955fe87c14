import Coverage
import Testing

@testable import SpeedTest

/// When tests start. Times in seconds; the waiting time is 5 minutes, the distance 250 m.
@Suite struct LoopStoryTests {
  private func timed(_ count: Int = 5) throws -> LoopRig {
    LoopRig(try LoopRules(count: count, every: .seconds(300), distance: nil))
  }

  private func moving(_ count: Int = 5, every: Duration? = nil) throws -> LoopRig {
    LoopRig(try LoopRules(count: count, every: every, distance: 250))
  }

  // MARK: Time

  @Test("when the loop begins, then its first test starts at once, and its state is on the disk before")
  func first() throws {
    var loop = LoopCoordinator(
      try LoopRules(count: 2, every: .seconds(300), distance: nil), bootID: "b", at: .sample(7))
    let effects = loop.handle(.tick, at: .sample(7))
    #expect(effects.count == 3)
    guard case .persist(let memory) = effects[0] else { throw Unexpected(effects: effects) }
    #expect(memory.number == 1 && memory.stage == .testing)
    #expect(effects.dropFirst() == [.start(1), .wake(at: .seconds(607))])
  }

  @Test("when the waiting time has passed from the start of a test, then the next one starts")
  func fromStart() throws {
    var rig = try timed()
    rig.send(.tick)
    #expect(rig.send(.completed(1), after: 40).isEmpty)
    #expect(rig.wakeAt == .seconds(1300))
    #expect(rig.send(.tick, after: 259.9).isEmpty)
    #expect(rig.send(.tick, after: 0.1) == [.start(2)])
  }

  @Test("when the waiting time passes during a test, then the next one starts right after it")
  func duringTest() throws {
    var rig = try timed()
    rig.send(.tick)
    #expect(rig.send(.tick, after: 301).isEmpty)
    #expect(rig.send(.completed(1), after: 5) == [.start(2)])
  }

  @Test("when a test fails, then it counts and the loop goes on")
  func failed() throws {
    var rig = try timed(2)
    rig.send(.tick)
    #expect(rig.send(.failed(1), after: 1).isEmpty)
    #expect(rig.send(.tick, after: 299) == [.start(2)])
    #expect(rig.send(.failed(2), after: 1) == [.ended(.count)])
    #expect(rig.coordinator.memory.tally.failed == 2)
  }

  @Test("when all tests were made, then the loop ends and nothing starts it again")
  func counted() throws {
    var rig = try timed(1)
    rig.send(.tick)
    #expect(rig.send(.completed(1)) == [.ended(.count)])
    for input: LoopInput in [.tick, .resume, .wake, .fix(.sample(9000)), .stop, .completed(1)] {
      #expect(rig.send(input, after: 400).isEmpty)
    }
    #expect(rig.disk?.stage == .ended(.count))
  }

  @Test("when a test does not end within 10 minutes, then it is aborted, counts, and the next one starts")
  func overdue() throws {
    var rig = try timed(2)
    rig.send(.tick)
    #expect(rig.send(.tick, after: 599).isEmpty)
    #expect(rig.send(.tick, after: 1) == [.abortTest(number: 1, .overdue), .start(2)])
    #expect(rig.send(.tick, after: 600) == [.abortTest(number: 2, .overdue), .ended(.count)])
  }

  @Test("when 48 hours have passed, then the loop ends, and a running test is aborted")
  func longest() throws {
    var rig = LoopRig(try LoopRules(count: 500, every: .seconds(86_400), distance: nil))
    rig.send(.tick)
    rig.send(.completed(1), after: 30)
    #expect(rig.send(.tick, after: 86_370) == [.start(2)])
    rig.send(.completed(2), after: 30)
    #expect(rig.wakeAt == .seconds(1000 + 172_800))
    #expect(rig.send(.tick, after: 86_369.9).isEmpty)
    #expect(rig.send(.tick, after: 0.1) == [.ended(.duration)])
    var other = LoopRig(try LoopRules(every: .seconds(300), distance: nil, duration: .seconds(330)))
    other.send(.tick)
    other.send(.completed(1), after: 300)
    #expect(other.send(.tick, after: 30) == [.abortTest(number: 2, .ended), .ended(.duration)])
  }

  @Test("when the user stops the loop, then the running test is aborted and the loop ends")
  func stop() throws {
    var rig = try timed()
    rig.send(.tick)
    #expect(rig.send(.stop, after: 3) == [.abortTest(number: 1, .ended), .ended(.user)])
    #expect(rig.send(.completed(1), after: 1).isEmpty)
    var waiting = try timed()
    waiting.send(.tick)
    waiting.send(.completed(1), after: 3)
    #expect(waiting.send(.stop, after: 3) == [.ended(.user)])
  }

  @Test("when the boot clock steps back, which it must not, then the loop's time stands still")
  func backwards() throws {
    var rig = try timed()
    rig.send(.tick)
    rig.send(.completed(1), after: 200)
    rig.send(.checkpoint, after: -100)
    #expect(rig.disk?.stamp.loop == 200_000_000)
    #expect(rig.send(.tick, after: 199).isEmpty)
    #expect(rig.send(.tick, after: 1) == [.start(2)])
  }

  // MARK: Distance

  @Test("when distance counts, then no test starts before the first accurate fix")
  func firstFix() throws {
    var rig = try moving()
    #expect(rig.send(.tick) == [.notice(1, .noFix)])
    #expect(rig.fix(0, accuracy: 20.1).isEmpty)
    #expect(rig.fix(0, accuracy: nil).isEmpty)
    #expect(rig.send(.fix(.lost)).isEmpty)
    #expect(rig.fix(0, accuracy: 20) == [.start(1)])
  }

  @Test("when the device moved the distance from the start of a test, then the next one starts")
  func moved() throws {
    var rig = try moving()
    rig.fix(0)
    rig.fix(100, after: 5)
    rig.send(.completed(1), after: 5)
    #expect(rig.fix(249, after: 5).isEmpty)
    #expect(rig.fix(251, after: 5) == [.start(2)])
    rig.send(.completed(2), after: 5)
    #expect(rig.fix(400, after: 5).isEmpty)
    #expect(rig.fix(0, after: 5) == [.start(3)])
  }

  @Test("when an inaccurate fix is far away, then it starts no test")
  func inaccurate() throws {
    var rig = try moving()
    rig.fix(0)
    rig.send(.completed(1), after: 1)
    #expect(rig.fix(4000, accuracy: 90, after: 1).isEmpty)
    #expect(rig.fix(0, after: 1).isEmpty)
  }

  @Test(
    "when the distance was reached during a test, then the next one starts after it, at any later position")
  func reachedInTest() throws {
    var rig = try moving()
    rig.fix(0)
    rig.fix(300, after: 5)
    rig.fix(0, after: 5)
    #expect(rig.send(.completed(1), after: 1) == [.start(2)])
  }

  @Test("when time is reached before distance, then the test starts by time, and distance counts from there")
  func either() throws {
    var rig = try moving(every: .seconds(300))
    rig.fix(0)
    rig.send(.completed(1), after: 30)
    #expect(rig.fix(200, after: 269).isEmpty)
    #expect(rig.send(.tick, after: 1) == [.start(2)])
    rig.send(.completed(2), after: 1)
    #expect(rig.fix(400, after: 1).isEmpty)
    #expect(rig.fix(460, after: 1) == [.start(3)])
  }

  @Test("when the fix is lost or older than 10 s, then a due test waits for another fix, with a notice")
  func lostFix() throws {
    var rig = try moving(every: .seconds(300))
    rig.fix(0)
    rig.send(.completed(1), after: 30)
    rig.fix(0, after: 260)
    #expect(rig.send(.tick, after: 10) == [.start(2)])
    rig.send(.completed(2), after: 30)
    rig.fix(0, after: 260)
    #expect(rig.send(.tick, after: 10.1) == [.notice(3, .noFix)])
    #expect(rig.fix(10) == [.start(3)])
    rig.send(.completed(3), after: 295)
    rig.fix(0, after: 1)
    rig.send(.fix(.lost), after: 1)
    #expect(rig.send(.tick, after: 5).isEmpty)
    #expect(rig.fix(0, after: 1) == [.start(4)])
  }

  @Test("when distance does not count, then a test starts without a fix")
  func withoutFix() throws {
    var rig = try timed()
    #expect(rig.send(.fix(.lost)) == [.start(1)])
  }

  // MARK: The server's name of the loop

  @Test("when the server has named the loop, then each further test has the first valid name unchanged")
  func named() throws {
    var rig = try timed()
    rig.send(.tick)
    rig.send(.named(""))
    rig.send(.named("white space"))
    rig.send(.named(String(repeating: "L", count: 65)))
    #expect(rig.coordinator.memory.loopUUID == nil)
    rig.send(.named("L0a1b"))
    rig.send(.named("Lother"))
    rig.send(.completed(1))
    #expect(rig.send(.tick, after: 300) == [.start(2, "L0a1b")])
  }

  @Test("when the server does not know the loop any more, then each further test has the new name")
  func renamed() throws {
    var rig = try timed()
    rig.send(.tick)
    rig.send(.named("L0a1b"))
    rig.send(.named("white space", isNewLoop: true))
    #expect(rig.coordinator.memory.loopUUID == "L0a1b")
    rig.send(.named("Lother", isNewLoop: true))
    rig.send(.completed(1))
    #expect(rig.send(.tick, after: 300) == [.start(2, "Lother")])
  }

  // MARK: Late answers

  @Test("when a result comes for a test that does not run, then it changes nothing")
  func late() throws {
    var rig = try timed()
    rig.send(.tick)
    let running = rig.coordinator
    for number in [-1, 0, 2, Int.max] { #expect(rig.send(.completed(number)).isEmpty) }
    #expect(rig.coordinator == running)
    rig.send(.pause)
    let waiting = rig.coordinator
    #expect(rig.send(.completed(1)).isEmpty)
    #expect(rig.coordinator == waiting)
  }

  struct Unexpected: Error { var effects: [LoopEffect] }
}
