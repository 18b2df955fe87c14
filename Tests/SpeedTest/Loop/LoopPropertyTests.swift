import Coverage
import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// Properties for every order of inputs.
@Suite struct LoopPropertyTests {
  // MARK: Complete orders

  /// The actions of each step, and the seconds before them.
  private static let alphabet: [(action: LoopWorld.Action, after: Double)] = [
    (.input(.tick), 300), (.move(by: 0), 1), (.move(by: 300), 1), (.input(.fix(.lost)), 1), (.input(.pause), 1),
    (.input(.resume), 1), (.input(.sleep), 1), (.input(.wake), 1), (.completed, 1), (.suspend(40), 1), (.restart, 1),
    (.input(.stop), 1),
  ]

  @Test(
    "when inputs come in any order to the given depth, then the loop does the same as the model",
    arguments: [(Duration.seconds(300), nil), (nil, 250), (.seconds(300), 250)] as [(Duration?, Double?)])
  func complete(every: Duration?, distance: Double?) throws {
    let world = LoopWorld(try LoopRules(count: 2, every: every, distance: distance))
    var steps = 0
    let complaint = Self.explore(world, depth: LoopOrders.depth, &steps)
    #expect(complaint == nil)
    // An ended loop gets no more inputs, so that there are fewer steps than 12 to the power of the depth.
    #expect(steps > 1 << (2 * LoopOrders.depth))
    print("complete orders to depth \(LoopOrders.depth): \(steps) steps")
  }

  private static func explore(_ world: LoopWorld, depth: Int, _ steps: inout Int) -> String? {
    if let complaint = world.complaint { return complaint }
    guard depth > 0, !world.rig.coordinator.isOver else { return nil }
    for (action, seconds) in alphabet {
      var next = world
      next.happen(action, after: seconds)
      steps += 1
      if let complaint = explore(next, depth: depth - 1, &steps) { return "\(action), then \(complaint)" }
    }
    return nil
  }

  // MARK: Random orders

  @Test("when inputs come in any order, then the loop does the same as the model")
  func model() throws {
    var commands = 0
    for seed in LoopOrders.seeds {
      var random = SeededGenerator(seed: seed)
      var world = LoopWorld(try .random(&random))
      for _ in 0..<60 where world.complaint == nil {
        world.happen(.random(&random), after: LoopWorld.Action.pause(&random))
      }
      #expect(world.complaint == nil, "seed \(seed)")
      if world.complaint != nil { return }
      commands += world.model.starts
    }
    #expect(commands > LoopOrders.count)
  }

  @Test("when a loop is written and read after each step, then it equals an uninterrupted loop")
  func restored() throws {
    var compared = 0
    for seed in LoopOrders.seeds.prefix(LoopOrders.count / 4) {
      var random = SeededGenerator(seed: seed)
      var rig = LoopRig(try .random(&random))
      rig.send(.tick)
      for _ in 0..<40 {
        if let input = LoopWorld.Action.random(&random).input {
          rig.send(input, after: LoopWorld.Action.pause(&random))
        }
        // Reset the state that only this process has: the position, the link, and an announced sleep.
        var whole = rig.coordinator
        _ = whole.handle(.link(otherLink: nil), at: rig.moment)
        _ = whole.handle(.fix(.lost), at: rig.moment)
        _ = whole.handle(.wake, at: rig.moment)
        let isUnchanged = whole.memory == rig.disk
        _ = whole.handle(.checkpoint, at: rig.moment)
        guard rig.coordinator.memory.stage == .waiting, isUnchanged, let disk = rig.disk else { continue }
        guard rig.coordinator.rules.afterRestart == .resume else { continue }
        let read = try LoopMemory(stored: try disk.stored)
        var restored = LoopCoordinator(
          resuming: read, rig.coordinator.rules, bootID: rig.bootID, at: rig.moment)
        let effects = restored.handle(.fix(.lost), at: rig.moment)
        #expect(restored == whole && effects.allSatisfy { $0.rank % 2 == 1 }, "seed \(seed): \(effects)")
        compared += 1
      }
    }
    #expect(compared > LoopOrders.count / 4)
  }

  @Test("when the power fails between any two effects, then no number is used twice and no surplus test starts")
  func powerLoss() throws {
    for seed in LoopOrders.seeds.prefix(LoopOrders.count / 4) {
      var random = SeededGenerator(seed: seed)
      let rules = try LoopRules.random(&random)
      var rig = LoopRig(rules)
      var numbers: [Int] = []
      for _ in 0..<60 {
        rig.pass(LoopWorld.Action.pause(&random))
        let input = LoopWorld.Action.random(&random).input ?? .completed(numbers.last ?? 0)
        var effects = rig.coordinator.handle(input, at: rig.moment)
        let fails = Int.random(in: 0..<4, using: &random) == 0
        if fails { effects.removeLast(Int.random(in: 0...effects.count, using: &random)) }
        for case .startTest(let number, _) in rig.note(effects) { numbers.append(number) }
        guard fails else { continue }
        for case .startTest(let number, _) in rig.restart() { numbers.append(number) }
        if rig.disk == nil { rig.coordinator = LoopRig(rules, boot: rig.boot).coordinator }
      }
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed): \(numbers)")
      #expect(numbers.allSatisfy { (1...rules.count).contains($0) }, "seed \(seed)")
    }
  }

  // MARK: Ways out

  @Test("when there is an operator, a fix and enough data, then the next test or the end follows from any state")
  func wayOut() throws {
    for seed in LoopOrders.seeds.prefix(LoopOrders.count / 4) {
      var random = SeededGenerator(seed: seed)
      var world = LoopWorld(try .random(&random))
      for _ in 0..<seed % 50 { world.happen(.random(&random), after: LoopWorld.Action.pause(&random)) }
      guard !world.rig.coordinator.isOver else { continue }
      let before = world.model.starts
      world.happen(.input(.resume))
      world.happen(.input(.wake))
      world.happen(.completed)
      world.happen(.move(by: 5000), after: 300)
      if world.model.starts == before, !world.rig.coordinator.isOver {
        // Data is used up: a restart with other limits.
        var rig = world.rig
        let rules = rig.coordinator.rules
        _ = rig.restart(
          try LoopRules(count: rules.count, every: rules.every, distance: rules.distance, duration: rules.duration))
        rig.fix(0, after: 1)
        #expect(rig.coordinator.memory.number == before + 1 || rig.coordinator.isOver, "seed \(seed)")
      }
    }
  }

  @Test("when only its timer wakes the loop, then the loop ends within its duration from any state")
  func endsAlone() throws {
    for seed in LoopOrders.seeds.prefix(LoopOrders.count / 8) {
      var random = SeededGenerator(seed: seed)
      var world = LoopWorld(try .random(&random))
      for _ in 0..<seed % 50 { world.happen(.random(&random), after: LoopWorld.Action.pause(&random)) }
      var rig = world.rig
      var steps = 0
      while !rig.coordinator.isOver, let wake = rig.wakeAt, steps < 4000 {
        rig.send(.tick, after: max(0, wake.inSeconds - rig.boot))
        steps += 1
      }
      #expect(rig.coordinator.isOver, "seed \(seed)")
      #expect(rig.time <= max(world.rig.time, rig.coordinator.rules.duration.inSeconds) + 0.001, "seed \(seed)")
    }
  }

  @Test("when tests use random amounts of data, then a data limit is exceeded by no more than the last test")
  func budget() throws {
    for seed in LoopOrders.seeds.prefix(200) {
      var random = SeededGenerator(seed: seed)
      var rig = LoopRig(
        try LoopRules(count: 500, every: .seconds(300), distance: nil, data: try DataLimits(day: 1000, month: 3000)))
      var days: [Int64: Int64] = [:]
      for _ in 0..<300 where !rig.coordinator.isOver {
        let started = rig.send(.tick, after: 1800).contains { if case .startTest = $0 { true } else { false } }
        let day = rig.wall.microseconds / 86_400_000_000
        if started { #expect(days[day, default: 0] < 1000, "seed \(seed)") }
        guard rig.coordinator.memory.stage == .testing else { continue }
        let bytes = Int64.random(in: 1...400, using: &random)
        rig.send(.traffic(bytes: bytes))
        days[day, default: 0] += bytes
        rig.send(.completed(rig.coordinator.memory.number))
      }
      #expect(days.values.allSatisfy { $0 < 1400 } && days.values.contains { $0 >= 1000 }, "seed \(seed)")
    }
  }
}

extension LoopWorld.Action {
  /// The input for the action in a rig without a model; `nil` if the action needs a world.
  fileprivate var input: LoopInput? {
    switch self {
    case .input(let input): input
    case .move(let by): .fix(.sample(by * 3))
    case .inaccurate: .fix(.sample(9000, accuracy: 50))
    default: nil
    }
  }
}
