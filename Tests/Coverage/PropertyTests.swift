import Coverage
import TestSupport
import Testing

/// What holds for every drive: a hundred thousand random events against what the specification says, read literally.
@Suite struct PropertyTests {
  private static let seeds: [UInt64] = [1, 2, 3].flatMap { base in (0..<33).map { base * 1_000 + $0 } }

  private func run(_ drive: RandomDrive) -> (engine: Engine, effects: [Effect]) {
    var engine = Engine(parameters: drive.parameters, path: drive.initialPath)
    let effects = drive.steps.flatMap { engine.handle($0.event) }
    return (engine, effects)
  }

  private func expectAsTheOracle(_ drive: RandomDrive) {
    let engine = run(drive).engine
    let oracle = Oracle(drive)
    let found = engine.fences.map { Found($0, engine) }
    #expect(found == oracle.circles.map { Found($0) }, "seed \(drive.seed)")
    #expect(engine.pings == oracle.pings, "seed \(drive.seed)")
    #expect(engine.pingsUnassigned == oracle.unassigned, "seed \(drive.seed)")
    #expect(engine.stopped?.at.microseconds == oracle.end?.at, "seed \(drive.seed)")
    #expect(engine.stopped?.reason == oracle.end?.reason, "seed \(drive.seed)")
  }

  @Test func `when anything happens, then fences, pings and end are those of the specification`() {
    for seed in Self.seeds + [SeededGenerator.seedOfThisRun] { expectAsTheOracle(RandomDrive(seed: seed, count: 600)) }
  }

  @Test func `when time stamps are in disorder, then fences, pings and end are still those`() {
    for seed in Self.seeds.prefix(66) + [SeededGenerator.seedOfThisRun] {
      expectAsTheOracle(RandomDrive(seed: seed, count: 600, disorder: true))
    }
  }

  @Test func `when anything happens, then fences never overlap and the sums are right`() {
    for seed in Self.seeds + [SeededGenerator.seedOfThisRun] {
      for disorder in [false, true] {
        let (engine, effects) = run(RandomDrive(seed: seed, count: 100, disorder: disorder))
        expectOrder(of: engine, seed)
        let closed = effects.compactMap { if case .fenceClosed(let fence) = $0 { fence.number } else { nil } }
        #expect(closed == engine.fences.filter { $0.exited != nil }.map(\.number), "seed \(seed)")
        #expect(engine.fences.map(\.pings).reduce(0, +) + engine.pingsUnassigned == engine.pings, "seed \(seed)")
      }
    }
  }

  private func expectOrder(of engine: Engine, _ seed: UInt64) {
    for (fence, next) in zip(engine.fences, engine.fences.dropFirst()) {
      #expect(fence.exited.map { fence.entered <= $0 && $0 <= next.entered } == true, "seed \(seed)")
    }
    for warning in engine.warnings {
      #expect(warning.to.map { warning.from < $0 } ?? true, "seed \(seed)")
    }
    #expect(engine.fences.allSatisfy { $0.pingsAnswered <= $0.pings }, "seed \(seed)")
    #expect(engine.fences.map(\.session) == engine.fences.map(\.session).sorted(), "seed \(seed)")
  }

  @Test func `when the drive has ended, then nothing that happens changes what was measured`() {
    for seed in Self.seeds + [SeededGenerator.seedOfThisRun] {
      var engine = run(RandomDrive(seed: seed, count: 60)).engine
      _ = engine.handle(Event(at: engine.now, .stop(.user)))
      let before = engine
      for step in RandomDrive(seed: seed + 1, count: 30).steps {
        #expect(engine.handle(step.event).isEmpty, "seed \(seed)")
      }
      #expect(engine.fences == before.fences && engine.sessions == before.sessions, "seed \(seed)")
      #expect(engine.warnings == before.warnings && engine.pings == before.pings, "seed \(seed)")
      #expect(engine.stopped?.at == before.stopped?.at && engine.nextDeadline == nil, "seed \(seed)")
    }
  }

  @Test func `when the engine is advanced between events, then the fences are the same`() {
    for seed in Self.seeds.prefix(20) + [SeededGenerator.seedOfThisRun] {
      let drive = RandomDrive(seed: seed, count: 300)
      var pushed = Engine(parameters: drive.parameters, path: drive.initialPath)
      for (event, _) in drive.steps {
        while let deadline = pushed.nextDeadline, deadline < event.at { _ = pushed.advance(to: deadline) }
        _ = pushed.handle(event)
      }
      let plain = run(drive).engine
      #expect(pushed.fences == plain.fences, "seed \(seed)")
      #expect(pushed.warnings == plain.warnings, "seed \(seed)")
    }
  }
}

/// A fence as both the engine and the oracle can tell it.
private struct Found: Equatable {
  let entered: Int64
  let exited: Int64?
  let radius: Double
  let testUUID: String?
  let technology: String?
  let isSubmittable: Bool
  let pings: Int
  let answered: Int
  let rttSum: Int64

  init(_ fence: Fence, _ engine: Engine) {
    entered = fence.entered.microseconds
    exited = fence.exited?.microseconds
    radius = fence.radius
    testUUID = engine.sessions[fence.session].testUUID
    technology = fence.technology?.name
    isSubmittable = fence.isSubmittable
    (pings, answered, rttSum) = (fence.pings, fence.pingsAnswered, fence.rttSumNanoseconds)
  }

  init(_ circle: Oracle.Circle) {
    entered = circle.entered
    exited = circle.exited
    radius = circle.radius
    testUUID = circle.testUUID
    technology = circle.technologies.last
    isSubmittable = !circle.isDirty
    let rtts = circle.pings.compactMap { if case .answered(let rtt, _) = $0 { rtt } else { nil } }
    (pings, answered, rttSum) = (circle.pings.count, rtts.count, rtts.reduce(0, +))
  }
}
