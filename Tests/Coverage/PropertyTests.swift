import TestSupport
import Testing

@testable import Coverage

/// Properties of every drive: random orders of events (``RandomOrders``) against the rules of docs/algorithm.md, read
/// literally.
@Suite struct PropertyTests {
  private func run(_ drive: RandomDrive) -> (engine: Engine, effects: [Effect]) {
    var engine = Engine(parameters: drive.parameters, path: drive.initialPath)
    let effects = drive.steps.flatMap { engine.handle($0.event) }
    return (engine, effects)
  }

  private func expectAsTheOracle(_ drive: RandomDrive) {
    let engine = run(drive).engine
    let oracle = Oracle(drive)
    #expect(Found.all(engine) == oracle.circles.map { Found($0, oracle.tests[$0.test]) }, "seed \(drive.seed)")
    #expect(engine.sessions.map(\.testUUID) == oracle.tests.map(\.uuid), "seed \(drive.seed)")
    #expect(engine.pings.all == oracle.pings && engine.pings.unsent == oracle.unsent, "seed \(drive.seed)")
    #expect(engine.pings.outside == oracle.outside && engine.pings.paused == oracle.paused, "seed \(drive.seed)")
    #expect(engine.pings.late == oracle.late, "seed \(drive.seed)")
    #expect(engine.stopped?.at.microseconds == oracle.end?.at, "seed \(drive.seed)")
    #expect(engine.stopped?.reason == oracle.end?.reason, "seed \(drive.seed)")
  }

  @Test func `when events come in any order, then fences, figures, times and end match the rules`() {
    for seed in RandomOrders.seeds { expectAsTheOracle(RandomDrive(seed: seed)) }
  }

  @Test func `when timestamps are in disorder, then fences, figures, times and end still match the rules`() {
    for seed in RandomOrders.seeds { expectAsTheOracle(RandomDrive(seed: seed, disorder: true)) }
  }

  @Test(arguments: [false, true])
  func `when events come in any order, then fences never overlap, and each ping has one place and one outcome`(
    disorder: Bool
  ) {
    for seed in RandomOrders.seeds {
      let drive = RandomDrive(seed: seed, disorder: disorder)
      var engine = Engine(parameters: drive.parameters, path: drive.initialPath, keepsPings: true)
      var placed: [PlacedPing] = []
      for step in drive.steps {
        _ = engine.handle(step.event)
        if step.event.at.microseconds % 7 == 0 { placed += engine.drainPlacedPings() }
      }
      _ = engine.handle(Event(at: engine.now, .stop(.user)))
      placed += engine.drainPlacedPings()
      #expect(placed.count == engine.pings.all && engine.drainPlacedPings().isEmpty, "seed \(seed)")
      #expect(placed.count { $0.outcome.isAnswered } == engine.pings.answered, "seed \(seed)")
      #expect(placed.count { $0.place == .outside } == engine.pings.outside, "seed \(seed)")
      #expect(placed.count { $0.place == .paused } == engine.pings.paused, "seed \(seed)")
      for (index, fence) in engine.fences.enumerated() {
        let own = placed.filter { $0.place == .fence(index) }
        #expect(own.count == fence.pings && own.count { $0.outcome.isAnswered } == fence.pingsAnswered, "seed \(seed)")
        // With times in disorder, a ping can have an outcome before the fence of its time has begun.
        #expect(disorder || fence.figures.late <= fence.pingsLost, "seed \(seed)")
      }
      let settled = engine.settledPings
      #expect(settled.inFences == engine.fences.map(\.pings).reduce(0, +), "seed \(seed)")
      #expect((settled.outside, settled.paused) == (engine.pings.outside, engine.pings.paused), "seed \(seed)")
      #expect(engine.pings.late <= engine.pings.all - engine.pings.answered, "seed \(seed)")
      for (fence, next) in zip(engine.fences, engine.fences.dropFirst()) {
        #expect(fence.exited.map { fence.entered <= $0 && $0 <= next.entered } == true, "seed \(seed)")
      }
      for warning in engine.warnings {
        #expect(warning.to.map { warning.from < $0 } ?? true, "seed \(seed)")
      }
      #expect(engine.fences.allSatisfy { $0.pingsAnswered <= $0.pings }, "seed \(seed)")
      #expect(engine.fences.map(\.session) == engine.fences.map(\.session).sorted(), "seed \(seed)")
      #expect(engine.fences.map(\.pings).reduce(0, +) + engine.pings.unassigned == engine.pings.all, "seed \(seed)")
    }
  }

  @Test(arguments: [false, true])
  func `when only effects are stored, then they give every fence and session at any moment`(disorder: Bool) {
    for seed in RandomOrders.seeds {
      let drive = RandomDrive(seed: seed, disorder: disorder)
      var engine = Engine(parameters: drive.parameters, path: drive.initialPath)
      var kept = Kept()
      var differences = 0
      for (number, step) in drive.steps.enumerated() {
        kept.take(engine.handle(step.event))
        if number % 10 == 0 { kept.checkpoint(engine.openFence) }
        if !kept.isTrue(to: engine) { differences += 1 }
      }
      kept.take(engine.handle(Event(at: engine.now, .stop(.user))))
      #expect(differences == 0 && kept.isTrue(to: engine), "seed \(seed)")
      #expect(kept.closed == Array(engine.fences.indices), "seed \(seed)")
    }
  }

  @Test(arguments: [false, true])
  func `when events came in any order, then a drive that has not ended goes on, and ends when stopped`(disorder: Bool) {
    for seed in RandomOrders.seeds {
      var engine = run(RandomDrive(seed: seed, disorder: disorder)).engine
      guard let deadline = engine.nextDeadline else { continue }
      #expect(deadline > engine.now, "seed \(seed)")
      let moments = (1...3).map { max(engine.now, engine.latestChange) + .microseconds($0) }
      guard deadline > moments[2] else { continue }
      _ = engine.handle(Event(at: moments[0], .path(.cellular)))
      _ = engine.handle(
        Event(at: moments[1], .fix(Fix(coordinate: Coordinate(latitude: 1, longitude: 1), accuracy: 3))))
      let unassigned = engine.pings.unassigned
      _ = engine.handle(Event(at: moments[2], .ping(.answered(rttNanoseconds: 1))))
      #expect(engine.openFence?.entered == moments[1] && engine.openFence?.pings == 1, "seed \(seed)")
      #expect(engine.openFence?.isSubmittable == true && engine.pings.unassigned == unassigned, "seed \(seed)")
      _ = engine.handle(Event(at: moments[2], .stop(.user)))
      #expect(engine.stopped?.reason == .user && engine.openFence == nil, "seed \(seed)")
      #expect(engine.sessions.allSatisfy { $0.finalized != nil }, "seed \(seed)")
    }
  }

  @Test func `when the drive has ended, then no later event changes its results`() {
    for seed in RandomOrders.seeds {
      var engine = run(RandomDrive(seed: seed, count: 60)).engine
      _ = engine.handle(Event(at: engine.now, .stop(.user)))
      let before = engine
      for step in RandomDrive(seed: seed &+ 1, count: 30).steps {
        #expect(engine.handle(step.event).isEmpty, "seed \(seed)")
      }
      #expect(engine.fences == before.fences && engine.sessions == before.sessions, "seed \(seed)")
      #expect(engine.warnings == before.warnings && engine.pings == before.pings, "seed \(seed)")
      #expect(engine.stopped?.at == before.stopped?.at && engine.nextDeadline == nil, "seed \(seed)")
    }
  }

  @Test func `when the engine is advanced between events, then the fences are the same`() {
    for seed in RandomOrders.seeds {
      let drive = RandomDrive(seed: seed)
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

/// A drive as stored on disk: by its effects, and by checkpoints of the open fence.
private struct Kept {
  private var fences: [Int: Fence] = [:]
  private var sessions = [0: Session(number: 0, started: .start)]
  /// The numbers of closed fences, in the order of their ends.
  private(set) var closed: [Int] = []

  mutating func take(_ effects: [Effect]) {
    for effect in effects {
      switch effect {
      case .fenceClosed(let fence):
        fences[fence.number] = fence
        closed.append(fence.number)
      case .fenceRevised(let fence): fences[fence.number] = fence
      case .sessionBegan(let session), .sessionChanged(let session): sessions[session.number] = session
      case .stopped: break
      }
    }
  }

  mutating func checkpoint(_ fence: Fence?) {
    if let fence { fences[fence.number] = fence }
  }

  /// An open fence must only have the right `isSubmittable`: if the host dies now, the fence ends as it is stored.
  func isTrue(to engine: Engine) -> Bool {
    sessions.values.sorted { $0.number < $1.number } == engine.sessions
      && engine.fences.allSatisfy { fence in
        guard fence.exited == nil else { return fences[fence.number] == fence }
        return fences[fence.number].map { $0.isSubmittable == fence.isSubmittable } ?? true
      }
  }
}

/// The values of a fence that both the engine and the oracle compute.
private struct Found: Equatable {
  let entered: Int64
  let exited: Int64?
  let offsetMilliseconds: Int64?
  let durationMilliseconds: Int64?
  let radius: Double
  let technology: String?
  let isSubmittable: Bool
  let pings: Int
  let answered: Int
  let rttSum: Int64
  let figures: PingFigures

  static func all(_ engine: Engine) -> [Found] {
    (engine.fences.filter { $0.exited != nil } + [engine.openFence].compactMap(\.self)).map {
      Found($0, engine.sessions[$0.session])
    }
  }

  private init(_ fence: Fence, _ session: Session) {
    entered = fence.entered.microseconds
    exited = fence.exited?.microseconds
    offsetMilliseconds = session.anchor.map { (fence.entered - $0).inMilliseconds }
    durationMilliseconds = fence.duration?.inMilliseconds
    radius = fence.radius
    technology = fence.technology?.name
    isSubmittable = fence.isSubmittable
    (pings, answered, rttSum) = (fence.pings, fence.pingsAnswered, fence.rttSumNanoseconds)
    figures = fence.figures
  }

  /// Milliseconds are truncated towards zero (docs/algorithm.md, 7), as in the division of integers.
  init(_ circle: Oracle.Circle, _ test: (uuid: String?, anchor: Int64?)) {
    entered = circle.entered
    exited = circle.exited
    offsetMilliseconds = test.anchor.map { (circle.entered - $0) / 1000 }
    durationMilliseconds = circle.exited.map { ($0 - circle.entered) / 1000 }
    radius = circle.radius
    technology = circle.technologies.last
    isSubmittable = circle.isSubmittable
    let rtts = circle.roundTrips
    (pings, answered, rttSum) = (circle.pings.count, rtts.count, rtts.reduce(0, +))
    var figures = PingFigures()
    (figures.late, figures.duplicates, figures.unsent) = (circle.late, circle.duplicates, circle.unsent)
    (figures.meanVariation, figures.kernelMean) = (circle.meanVariation, circle.kernelMean)
    if let least = rtts.min(), let most = rtts.max(), let median = circle.percentile(50),
      let percentile95 = circle.percentile(95)
    {
      figures.roundTrip = .init(minimum: least, median: median, percentile95: percentile95, maximum: most)
    }
    figures.delays = Self.bins(rtts)
    self.figures = figures
  }

  /// By the words of docs/export.md: a bin for each microsecond below 128, then 64 for each doubling.
  private static func bins(_ rtts: [Int64]) -> DelayBins {
    var counts: [Int: Int] = [:]
    for rtt in rtts {
      let delay = Int((rtt + 500) / 1000)
      var (width, first) = (1, 0)
      while delay / width >= 128 { (width, first) = (2 * width, first + 64) }
      counts[first + delay / width, default: 0] += 1
    }
    return DelayBins(counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
      ?? DelayBins()
  }
}
