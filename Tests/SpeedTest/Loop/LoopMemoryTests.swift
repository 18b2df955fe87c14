import Coverage
import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// The state that survives a restart, and its use by the next start. The waiting time is 5 minutes.
@Suite struct LoopMemoryTests {
  private func rules(
    _ count: Int = 9, distance: Double? = nil, duration: Duration = LoopRules.longestDuration,
    _ afterRestart: LoopRules.AfterRestart = .resume
  ) throws -> LoopRules {
    try LoopRules(
      count: count, every: .seconds(300), distance: distance, duration: duration, afterRestart: afterRestart)
  }

  private func waiting(_ rules: LoopRules) -> LoopRig {
    var rig = LoopRig(rules)
    rig.send(.named("Lx"))
    rig.fix(0)
    rig.send(.completed(1), after: 30)
    return rig
  }

  // MARK: Restarts

  @Test(
    "when the program restarts while it waits, then the time before and between counts, and the test numbers go on"
  )
  func whileWaiting() throws {
    var rig = waiting(try rules())
    #expect(rig.restart(after: 100).isEmpty)
    #expect(rig.wakeAt == .seconds(1300))
    #expect(rig.send(.tick, after: 169.9).isEmpty)
    #expect(rig.send(.tick, after: 0.1) == [.start(2, "Lx")])
  }

  @Test("when the waiting time passes while the program is down, then the test starts with the program")
  func dueWhileDown() throws {
    var rig = waiting(try rules())
    #expect(rig.restart(after: 4000) == [.start(2, "Lx")])
  }

  @Test("when the device moves while the program is down, then the distance is reached with the first fix")
  func movedWhileDown() throws {
    var rig = waiting(try LoopRules(count: 9, every: nil, distance: 250))
    #expect(rig.restart(after: 60).isEmpty)
    #expect(rig.fix(249).isEmpty)
    #expect(rig.fix(251) == [.start(2, "Lx")])
  }

  @Test("when the program restarts during a test, then that test is aborted and counts")
  func whileTesting() throws {
    var rig = LoopRig(try rules(2))
    rig.send(.tick)
    #expect(rig.restart(after: 10) == [.abortTest(number: 1, .restarted)])
    #expect(rig.send(.completed(1)).isEmpty)
    #expect(rig.send(.tick, after: 290) == [.start(2)])
    #expect(rig.restart(after: 5000) == [.abortTest(number: 2, .restarted), .ended(.count)])
    #expect(rig.coordinator.memory.tally.aborted == 2)
  }

  @Test("when the operator paused the loop before the restart, then it is still paused; an announced sleep is over")
  func paused() throws {
    var rig = waiting(try rules())
    rig.send(.pause)
    rig.send(.sleep)
    #expect(rig.restart(after: 300) == [.notice(2, .inactive)])
    #expect(rig.restart(after: 600).isEmpty)
    #expect(rig.send(.resume) == [.start(2, "Lx")])
  }

  @Test("when the host reboots and the wall time is known, then the time without power counts")
  func reboot() throws {
    var rig = waiting(try rules())
    #expect(rig.reboot(after: 200, uptime: 20).isEmpty)
    #expect(rig.wakeAt == .seconds(20 + 50))
    #expect(rig.send(.tick, after: 50) == [.start(2, "Lx")])
    #expect(rig.reboot(after: 172_800) == [.abortTest(number: 2, .restarted), .ended(.duration)])
  }

  @Test("when the host reboots and no clock is trusted, then the time since the boot counts")
  func rebootWithoutClock() throws {
    var rig = waiting(try rules())
    rig.isWallTrusted = false
    #expect(rig.reboot(after: 100_000, uptime: 269).isEmpty)
    #expect(rig.send(.tick, after: 1) == [.start(2, "Lx")])
  }

  @Test("when the host reboots twice without a trusted clock, then the time since both boots counts")
  func twoReboots() throws {
    var rig = waiting(try rules())
    rig.isWallTrusted = false
    #expect(rig.reboot(after: 5000, uptime: 100).isEmpty)
    #expect(rig.reboot(after: 5000, uptime: 100).isEmpty)
    #expect(rig.wakeAt == .seconds(100 + 70))
  }

  @Test("when the wall clock was set back before the reboot, then the time since the boot counts")
  func rebootWithClockSetBack() throws {
    var rig = waiting(try rules())
    #expect(rig.reboot(after: -5000, uptime: 100).isEmpty)
    #expect(rig.wakeAt == .seconds(100 + 170))
  }

  @Test("when the limits have passed while the program was down, then the loop ends at the start")
  func limits() throws {
    var rig = waiting(try rules(duration: .seconds(3600)))
    #expect(rig.restart(after: 3570) == [.ended(.duration)])
    #expect(rig.disk?.stage == .ended(.duration))
    #expect(rig.restart().isEmpty)
    var fewer = waiting(try rules())
    #expect(fewer.restart(try rules(1)) == [.ended(.count)])
  }

  @Test(
    "when the rules end a loop at a restart, then it ends, and a running test is aborted; a new loop is not affected")
  func ending() throws {
    var rig = waiting(try rules(.end))
    #expect(rig.restart(after: 1) == [.ended(.restart)])
    var testing = LoopRig(try rules(.end))
    #expect(testing.send(.tick) == [.start(1)])
    #expect(testing.restart(after: 1) == [.abortTest(number: 1, .restarted), .ended(.restart)])
    var old = waiting(try rules(.end))
    #expect(old.restart(after: 200_000) == [.ended(.duration)])
  }

  private func rules(_ afterRestart: LoopRules.AfterRestart) throws -> LoopRules { try rules(9, afterRestart) }

  @Test("when the place of the latest test is not known and distance counts now, then it counts from the first fix")
  func withoutPlace() throws {
    var rig = LoopRig(try rules())
    rig.send(.tick)
    rig.send(.completed(1))
    #expect(rig.coordinator.memory.place == nil)
    #expect(rig.restart(after: 1, try LoopRules(count: 9, every: nil, distance: 250)).isEmpty)
    #expect(rig.fix(1000).isEmpty)
    #expect(rig.fix(1251) == [.start(2)])
  }

  @Test("when the process ends, then no test starts and no notice is given, but inputs still count")
  func closed() throws {
    var rig = waiting(try rules())
    rig.coordinator.isClosed = true
    for input: LoopInput in [.tick, .resume, .fix(.sample(9000)), .wake, .checkpoint] {
      #expect(rig.send(input, after: 86_400 / 10).isEmpty)
    }
    rig.send(.traffic(bytes: 7))
    #expect(rig.disk?.stage == .waiting && rig.disk?.number == 1)
    rig.send(.pause)
    #expect(rig.disk?.isPaused == true)
    #expect(rig.send(.resume).isEmpty)
    #expect(rig.restart(after: 1, try rules()) == [.startTest(number: 2, loopUUID: "Lx")])
    rig.coordinator.isClosed = true
    #expect(rig.send(.stop) == [.abortTest(number: 2, .ended), .ended(.user)])
  }

  @Test("when a checkpoint is requested, then the state is written with the present time, even if nothing changed")
  func checkpoint() throws {
    var rig = waiting(try rules())
    let before = try #require(rig.disk)
    #expect(rig.send(.checkpoint, after: 100).isEmpty)
    let after = try #require(rig.disk)
    #expect(after.stamp.loop == 130_000_000 && before.stamp.loop == 30_000_000)
  }

  @Test("when nothing changes, then nothing is written: the flash of a device wears out")
  func wear() throws {
    var rig = waiting(try rules())
    for input: LoopInput in [
      .tick, .fix(.sample(20)), .fix(.lost), .resume, .wake, .sleep, .completed(1), .named("Ly"),
    ] {
      let effects = rig.coordinator.handle(input, at: rig.moment)
      #expect(!effects.contains { if case .persist = $0 { true } else { false } }, "\(input)")
    }
  }

  // MARK: The coded form

  private var sample: LoopMemory {
    get throws {
      var rig = LoopRig(try rules(9, distance: 250))
      rig.fix(0)
      rig.send(.named("L1f0c"))
      rig.send(.traffic(bytes: 4_000_000))
      rig.send(.completed(1), after: 20)
      rig.send(.pause)
      rig.fix(300)
      return try #require(rig.disk)
    }
  }

  private func json(_ memory: LoopMemory) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: try JSONEncoder().encode(memory)) as? [String: Any])
  }

  private func decode(_ object: Any) throws -> LoopMemory {
    try LoopMemory(stored: String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self))
  }

  @Test("when the state is written and read, then it is the same, in each stage")
  func coding() throws {
    var memory = try sample
    for stage: LoopStage in [.waiting, .ended(.count), .ended(.duration), .ended(.user), .ended(.restart)] {
      memory.stage = stage
      #expect(try decode(try json(memory)) == memory)
    }
    (memory.number, memory.stage, memory.place, memory.loopUUID) = (2, .testing, nil, nil)
    #expect(try decode(try json(memory)) == memory)
  }

  /// Members, each with values that no loop can have.
  private static var absurd: [(member: String, values: [Any])] {
    [
      ("number", [-1, 501, 2, Int.max, Int.min, "1", 1.5]), ("stage", ["waiting", ["testing": [String: Int]()], 7]),
      ("testStarted", [-1, Int64.max, Int64.min, 21_000_000]), ("latitude", [90.1, -91, 1e300, "48"]),
      ("longitude", [180.5, -1e9]), ("loopUUID", ["", "a b", "\u{7f}", String(repeating: "x", count: 65), 5]),
      ("tally", [["completed": -1, "failed": 2, "aborted": 0], ["completed": 0, "failed": 0, "aborted": 0]]),
      ("tally", [["completed": Int.max, "failed": Int.max, "aborted": Int.max]]),
      (
        "notices",
        [["given": ["nothing"]], ["given": [String](), "last": -1], ["given": [String](), "last": Int64.max]]
      ),
      ("stamp", [["bootID": "b", "boot": -1, "loop": 20_000_000], ["bootID": "b", "boot": 1, "loop": -20]]),
      ("stamp", [["bootID": "b", "boot": 1, "loop": 20_000_000, "wall": 5]]), ("isDue", ["yes"]), ("isPaused", [3]),
    ]
  }

  @Test("when a member is damaged or absurd, then the state is refused with one line")
  func damaged() throws {
    for (member, values) in Self.absurd {
      for value in values {
        var object = try json(try sample)
        object[member] = value
        #expect(throws: DecodingError.self, "\(member) \(value)") { try decode(object) }
      }
    }
    for member in try json(try sample).keys where !["loopUUID", "latitude"].contains(member) {
      var object = try json(try sample)
      object[member] = nil
      #expect(throws: DecodingError.self, "without \(member)") { try decode(object) }
    }
    var first = try json(try sample)
    first["number"] = 0
    first["tally"] = ["completed": 0, "failed": 0, "aborted": 0]
    first["isDue"] = false
    #expect(throws: DecodingError.self) { try decode(first) }
  }

  @Test("when the state is refused, then the error names the reason")
  func reason() throws {
    var object = try json(try sample)
    object["number"] = 7
    do {
      _ = try decode(object)
      Issue.record("a wrong number was accepted")
    } catch DecodingError.dataCorrupted(let context) {
      #expect(context.debugDescription == "the stored loop is damaged: 7 tests started, but 1 ended")
    }
  }

  @Test("when any byte of the state is damaged, then the state is refused, or its loop neither traps nor hangs")
  func anyByte() throws {
    let bytes = try JSONEncoder().encode(try sample)
    var accepted = 0
    for seed in LoopOrders.seeds(min(2000, max(300, LoopOrders.count))) {
      var random = SeededGenerator(seed: seed)
      var damaged = bytes
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        damaged[Int.random(in: 0..<damaged.count, using: &random)] =
          Bool.random(using: &random)
          ? UInt8.random(in: 0x30...0x39, using: &random) : .random(in: 0...255, using: &random)
      }
      guard let memory = try? LoopMemory(stored: String(decoding: damaged, as: UTF8.self)) else { continue }
      accepted += 1
      var loop = LoopCoordinator(
        resuming: memory, try rules(9, distance: 250), bootID: LoopRig.bootID, at: .sample(2000))
      _ = loop.handle(.tick, at: .sample(2000))
      _ = loop.handle(.resume, at: .sample(2001))
      let effects = loop.handle(.fix(.sample(5000)), at: .sample(2002))
      #expect(loop.isOver || loop.memory.stage == .testing || effects.contains { $0 == .ended(.count) }, "seed \(seed)")
      _ = loop.handle(.tick, at: .sample(1e9))
      #expect(loop.isOver, "seed \(seed)")
    }
    #expect(accepted > 10)
  }

  @Test("when a value that was not decoded is absurd, then it does not trap either")
  func extremes() throws {
    let numbers: [Int64] = [.min, -1, 0, 1, .max]
    for boot in numbers {
      for loop in numbers {
        for started in numbers {
          var memory = try sample
          memory.stamp = LoopStamp(bootID: "b", boot: boot, loop: loop, wall: WallTime(microseconds: started))
          memory.testStarted = started
          for bootID in ["b", "c"] {
            for moment in [LoopMoment.sample(0), .sample(1e9), LoopMoment(boot: .seconds(-5), awake: .zero, wall: nil)]
            {
              var coordinator = LoopCoordinator(resuming: memory, try rules(), bootID: bootID, at: moment)
              for input: LoopInput in [.tick, .resume, .fix(.sample(0)), .traffic(bytes: .max), .checkpoint, .stop] {
                _ = coordinator.handle(input, at: moment)
              }
              #expect(coordinator.isOver)
            }
          }
        }
      }
    }
  }
}
