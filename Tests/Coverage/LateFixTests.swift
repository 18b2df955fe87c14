import TestSupport
import Testing

@testable import Coverage

/// A fix counts from the arrival of its position, though it is delivered when its epoch is complete.
@Suite struct LateFixTests {
  private let ground = Ground.vienna

  private func fix(north: Double, accuracy: Double? = 5) -> Event.Kind {
    .fix(Fix(coordinate: ground.place(north: north, east: 0), accuracy: accuracy))
  }

  private func event(_ seconds: Double, _ kind: Event.Kind, delivered: Double? = nil) -> Event {
    Event(at: DriveTime(seconds: seconds), kind, delivered: delivered.map { DriveTime(seconds: $0) })
  }

  private func engine(_ events: [Event]) -> Engine {
    var engine = Engine()
    for event in events { _ = engine.handle(event) }
    return engine
  }

  private let ping = Event.Kind.ping(.answered(rttNanoseconds: 20_000_000))

  @Test func `when a position is delivered after its arrival, then pings sent in between belong to its fence`() {
    let engine = engine([
      event(0, fix(north: 0)), event(0.9, ping), event(1.1, ping), event(1.15, ping),
      event(1, fix(north: 100), delivered: 1.2), event(1.18, ping),
    ])
    #expect(engine.fences.map(\.entered) == [.start, DriveTime(seconds: 1)])
    #expect(engine.fences.map(\.exited) == [DriveTime(seconds: 1), nil])
    #expect(engine.fences.map(\.pings) == [1, 3])
    #expect(engine.fences.map(\.rttSumNanoseconds) == [20_000_000, 60_000_000])
    #expect((engine.pings.all, engine.pings.answered, engine.pings.unassigned) == (4, 4, 0))
    #expect(engine.now == DriveTime(seconds: 1.2))
  }

  @Test func `when an old loss comes among the outcomes of new pings, then a position still counts from its arrival`() {
    let pings = (0..<80).map { event($0 == 32 ? 5 : 10 + Double($0) / 50, ping) }
    let engine = engine([event(0, fix(north: 0))] + pings + [event(10.2, fix(north: 100), delivered: 11.7)])
    #expect(engine.fences.map(\.entered) == [.start, DriveTime(seconds: 10.2)])
  }

  @Test func `when a late position ends a fence, then the effect has the same fence as without the delay`() {
    for delivered in [nil, 1.2] {
      var engine = engine([event(0, fix(north: 0)), event(0.9, ping)])
      let effects = engine.handle(event(1, fix(north: 100), delivered: delivered))
      let closed = effects.compactMap { if case .fenceClosed(let fence) = $0 { fence } else { nil } }
      #expect(closed.map(\.exited) == [DriveTime(seconds: 1)] && closed.map(\.number) == [0])
    }
  }

  @Test func `when the drive's time is over before a position is delivered, then the effects include the stop`() {
    var parameters = Parameters()
    parameters.maximumDuration = .seconds(10)
    for (at, delivered) in [(9.9, 10.1), (10.05, 10.1)] {
      var engine = Engine(parameters: parameters)
      _ = engine.handle(event(0, fix(north: 0)))
      let effects = engine.handle(event(at, fix(north: 100), delivered: delivered))
      #expect(effects.contains(.stopped(.duration)), "\(effects)")
      #expect(engine.stopped != nil)
    }
  }

  @Test func `when a late position is inaccurate, then no warning begins before it was due`() {
    for delivered in [nil, 4.1] {
      var engine = engine([event(0, fix(north: 0)), event(1, fix(north: 0), delivered: 1.2)])
      _ = engine.advance(to: DriveTime(seconds: 4))
      _ = engine.handle(event(2, fix(north: 0, accuracy: 50), delivered: delivered))
      #expect(engine.warnings.map(\.from) == [DriveTime(seconds: 3)])
    }
  }

  @Test func `when a late position is inaccurate or lost, then pings sent since its arrival belong to no fence`() {
    for kind in [fix(north: 0, accuracy: 50), Event.Kind.fix(.lost)] {
      let engine = engine([
        event(0, fix(north: 0)), event(0.9, ping), event(1.1, ping), event(1, kind, delivered: 1.2), event(1.15, ping),
      ])
      #expect(engine.fences.map(\.pings) == [1])
      #expect(engine.pings.unassigned == 2)
    }
  }

  @Test func `when a link, a test or another fix came meanwhile, then the late fix counts from that event`() {
    let meanwhile: [Event.Kind] = [
      .path(.offline), .session(SessionGrant(testUUID: "T")), .clockSet(by: .seconds(9)), .radio(nil), fix(north: 3),
    ]
    for kind in meanwhile {
      let engine = engine([event(0, fix(north: 0)), event(1.1, kind), event(1, fix(north: 100), delivered: 1.2)])
      #expect(engine.fences.last?.entered == DriveTime(seconds: 1.1))
    }
  }

  @Test func `when a fix of the past has no time of delivery, then it counts from the present`() {
    let engine = engine([event(0, fix(north: 0)), event(1.1, ping), event(1, fix(north: 100))])
    #expect(engine.fences.map(\.exited) == [DriveTime(seconds: 1.1), nil])
    #expect(engine.fences.map(\.pings) == [1, 0])
  }

  @Test func `when a fix is delivered half an hour late, then it counts from at most some seconds ago`() {
    let pings = (1..<20_000).map { event(Double($0) / 10, ping) }
    let engine = engine([event(0, fix(north: 0))] + pings + [event(1, fix(north: 100), delivered: 2000)])
    #expect(engine.fences[1].entered > DriveTime(seconds: 1980))
    #expect(engine.fences.map(\.pings).reduce(0, +) + engine.pings.unassigned == engine.pings.all)
  }

  /// The same drive twice: with each fix handled at its arrival, and with each fix handled when it is complete.
  private func drives(_ generator: inout SeededGenerator) -> (atOnce: [Event], late: [Event]) {
    var handled: [(at: Int64, event: Event)] = []
    for tick in 0..<400 {
      let sent = Int64(tick) * 100_000 + 7
      let wait = Int64.random(in: 1_000...900_000, using: &generator)
      let isAnswered = Int.random(in: 0..<8, using: &generator) > 0
      let outcome: PingOutcome =
        isAnswered ? .answered(rttNanoseconds: wait * 1000, isKernelStamped: wait.isMultiple(of: 2)) : .failed(.timeout)
      handled.append((sent + wait, Event(at: DriveTime(microseconds: sent), .ping(outcome))))
      if wait.isMultiple(of: 9) {
        handled.append((sent + wait + 10, Event(at: DriveTime(microseconds: sent), .duplicate)))
      }
    }
    var late = handled
    var (time, north): (Int64, Double) = (0, 0)
    while time < 40_000_000 {
      north += .random(in: 0...30, using: &generator)
      let kinds = [fix(north: north), fix(north: north), fix(north: north, accuracy: 80), .fix(.lost)]
      let kind = kinds[Int.random(in: 0..<kinds.count, using: &generator)]
      let delay = Int64.random(in: 0...1_000_000, using: &generator)
      handled.append((time, Event(at: DriveTime(microseconds: time), kind)))
      late.append(
        (time + delay, Event(at: DriveTime(microseconds: time), kind, delivered: DriveTime(microseconds: time + delay)))
      )
      time += delay + Int64.random(in: 1...1_500_000, using: &generator)
    }
    func inOrder(_ all: [(at: Int64, event: Event)]) -> [Event] {
      all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element.event)
    }
    return (inOrder(handled), inOrder(late))
  }

  @Test func `when fixes are delivered late, then all fences equal those of fixes delivered at once`() {
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<min(200, RandomOrders.count) {
      let drives = drives(&generator)
      let stop = event(60, .stop(.user))
      let (atOnce, late) = (engine(drives.atOnce + [stop]), engine(drives.late + [stop]))
      #expect(atOnce.fences == late.fences)
      #expect(atOnce.pings.unassigned == late.pings.unassigned)
      #expect((atOnce.pings.all, atOnce.pings.answered) == (late.pings.all, late.pings.answered))
      #expect(atOnce.warnings == late.warnings)
    }
  }
}
