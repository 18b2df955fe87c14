import Coverage
import TestSupport
import Testing

@testable import Export

/// The figures of single pings, against those of the fences.
@Suite struct LogFiguresTests {
  /// A drive of a minute or two with pings out of order, losses, late answers, changes of the path, tests, and positions of all kinds.
  private static func drive(_ random: inout SeededGenerator) -> [Event] {
    var (events, north): ([Event], Double) = ([], 0)
    for tenth in 0..<Int.random(in: 300...1500, using: &random) {
      let now = Double(tenth) / 10
      switch Int.random(in: 0..<40, using: &random) {
      case 0:
        events.append(
          Event(at: .seconds(now), .path([.wifi, .cellular, .offline].randomElement(using: &random) ?? .wifi)))
      case 1: events.append(Event(at: .seconds(now), .session(SessionGrant(testUUID: "T\(tenth)"))))
      case 2: events.append(Event(at: .seconds(now), .clockSet(by: .seconds(Bool.random(using: &random) ? 2 : -3))))
      case 3: events.append(Event(at: .seconds(now), .fix(.lost)))
      case 4...12:
        north += Double.random(in: 0...30, using: &random)
        let coordinate = Coordinate(latitude: 48 + north / 111_195, longitude: 16)
        let accuracy = [3, 5, 15, 15.5, nil].randomElement(using: &random) ?? nil
        events.append(Event(at: .seconds(now), .fix(Fix(coordinate: coordinate, accuracy: accuracy))))
      default: break
      }
      let sent = DriveTime.seconds(now + 0.03)
      if Int.random(in: 0..<5, using: &random) == 0 {
        events.append(Event(at: sent, .ping(.failed(.timeout))))
        if Bool.random(using: &random) { events.append(Event(at: sent, .late(rttNanoseconds: 5))) }
      } else {
        // An answer is logged on arrival, with the time at which its ping was sent.
        let outcome = PingOutcome.answered(
          rttNanoseconds: .random(in: 1...900_000_000, using: &random), isKernelStamped: tenth.isMultiple(of: 2))
        events.insert(Event(at: sent, .ping(outcome)), at: max(0, events.count - Int.random(in: 0...1, using: &random)))
      }
    }
    return events
  }

  @Test(
    "when logs have events of all kinds, then store, replay and report agree to the ping, and each ping counts once")
  func agreement() throws {
    for seed in 0..<UInt64(min(200, RandomOrders.count)) {
      var random = SeededGenerator(seed: seed)
      let (events, path) = (Self.drive(&random), Bool.random(using: &random) ? Path.wifi : .cellular)
      var engine = Engine(path: path)
      for event in events { _ = engine.handle(event) }
      _ = engine.handle(Event(at: engine.now, .stop(.user)))
      var figures = ReportFigures()
      for fence in engine.fences { figures.add(.of(fence, session: Int64(fence.session))) }
      figures.endFences()
      try figures.addLog(of: 1, parameters: Parameters(), initialPath: path) { try events.forEach($0) }
      guard !engine.fences.isEmpty else { continue }
      let (logged, sums) = (figures.logged, figures.sums)
      #expect(logged.delays.count == sums.answered, "seed \(seed)")
      #expect((logged.unassigned.outside, logged.unassigned.paused) == (engine.pings.outside, engine.pings.paused))
      let all = events.count { if case .ping = $0.kind { true } else { false } }
      #expect(sums.pings + logged.unassigned.outside + logged.unassigned.paused == all && engine.pings.all == all)
      let inFences = engine.fences.map(\.figures.late).reduce(0, +)
      #expect(sums.late == inFences && inFences <= engine.pings.late && sums.late <= sums.lost, "seed \(seed)")
      // Where no position is lost in it, the mean variation of a fence is that of its pairs.
      let pairs = engine.fences.compactMap(\.figures.meanVariation).count
      #expect(logged.variations.count >= pairs, "seed \(seed)")
      let kernel = engine.fences.filter { $0.figures.kernelMean != nil }.count
      #expect(logged.kernelStamped >= kernel && logged.kernelStamped <= sums.answered, "seed \(seed)")
    }
  }

  @Test("when one test of a drive is selected, then only its pings count, and the parts add up to the drive")
  func parts() throws {
    for seed in 0..<UInt64(8) {
      var random = SeededGenerator(seed: seed)
      let events = Self.drive(&random)
      var engine = Engine()
      for event in events { _ = engine.handle(event) }
      _ = engine.handle(Event(at: engine.now, .stop(.user)))
      var (outside, paused, lost): (Int, Int, Int) = (0, 0, 0)
      for session in Set(engine.fences.map(\.session)) {
        var figures = ReportFigures()
        for fence in engine.fences where fence.session == session { figures.add(.of(fence, session: Int64(session))) }
        try figures.addLog(of: 1, parameters: Parameters(), initialPath: .cellular) { try events.forEach($0) }
        #expect(figures.logged.delays.count == figures.sums.answered, "seed \(seed)")
        outside += figures.logged.unassigned.outside
        paused += figures.logged.unassigned.paused
        lost += figures.sums.lost
      }
      guard !engine.fences.isEmpty else { continue }
      #expect((outside, paused) == (engine.pings.outside, engine.pings.paused), "seed \(seed)")
      #expect(lost == engine.fences.map(\.pingsLost).reduce(0, +))
    }
  }

  @Test(
    "when a fence without a duration begins with its neighbour, then the one that is selected has its own pings only")
  func instants() throws {
    let events = [
      fix(1), answered(1.5), fix(5, north: 60), fix(5, north: 120), answered(5.5), answered(6), fix(9, north: 180),
      answered(9.5),
    ]
    var engine = Engine()
    for event in events { _ = engine.handle(event) }
    _ = engine.handle(Event(at: engine.now, .stop(.user)))
    #expect(engine.fences.map { $0.exited == $0.entered } == [false, true, false, false])
    for selected in [[0], [1], [2], [3], [0, 2], [0, 1, 2], [1, 3]] {
      var figures = ReportFigures()
      for fence in selected { figures.add(.of(engine.fences[fence])) }
      try figures.addLog(of: 1, parameters: Parameters(), initialPath: .cellular) { try events.forEach($0) }
      #expect(figures.logged.delays.count == figures.sums.answered, "\(selected)")
    }
  }

  private static func sorted(_ counts: ValueCounts) -> [Int64] {
    counts.values(atRanks: Array(1...max(1, counts.count))).compactMap(\.self)
  }

  private func log(
    _ fences: [Range<DriveTime>], id: Int64 = 1, started: WallTime = .sampleStart, link: String? = nil
  ) -> LogFigures.Log {
    var selected = SelectedFences()
    for time in fences {
      selected.add(.sample(entered: Double(time.lowerBound.microseconds) / 1e6), until: time.upperBound)
    }
    return LogFigures.Log(
      id: id, fences: selected, started: started, link: link, parameters: Parameters(), initialPath: .cellular)
  }

  /// The position with which all fences of these tests begin.
  private func fix(_ at: Double, north: Double = 0) -> Event {
    Event(
      at: .seconds(at), .fix(Fix(coordinate: Coordinate(latitude: 48 + north / 111_195, longitude: 16), accuracy: 4)))
  }

  private func answered(_ at: Double, _ nanoseconds: Int64 = 20_000_000) -> Event {
    Event(at: .seconds(at), .ping(.answered(rttNanoseconds: nanoseconds)))
  }

  @Test(
    "when logs are added, then their pings add up, positions and steps of links count once, and no run of losses crosses"
  )
  func severalLogs() throws {
    var figures = LogFigures()
    let fences = [DriveTime.seconds(1) ..< .seconds(5)]
    // The second drive is the first one's over another link, the third one a drive of its own.
    for (id, link, hours) in [(1, "a", 0), (2, "b", 0), (3, "a", 1)] as [(Int64, String, Int64)] {
      let lost = [2, 3].map { Event(at: .seconds($0), .ping(.failed(.timeout))) }
      let step = Event(at: .seconds(3.5), .clockSet(by: .seconds(-2)))
      let started = WallTime(microseconds: WallTime.sampleStart.microseconds + hours * 3_600_000_000)
      _ = try figures.add(log(fences, id: id, started: started, link: link)) { body in
        try ([fix(1), answered(1.5)] + lost + [step]).forEach(body)
      }
    }
    #expect(figures.logs == 3 && figures.delays.count == 3 && figures.longestLoss == 2)
    let receiver = figures.receiver
    #expect(receiver.fixes == 2, "both links have the positions of their drive")
    #expect(receiver.clockSteps == 2 && receiver.clockStepMicroseconds == 4_000_000)
  }

  @Test("when pings are in different fences, or a ping between them was lost, then they have no variation")
  func variation() throws {
    func variations(_ events: [Event]) throws -> [Int64] {
      var figures = LogFigures()
      _ = try figures.add(log([.seconds(1) ..< .seconds(2), .seconds(2) ..< .seconds(3)])) {
        try
          ([fix(1)] + events.filter { $0.at < .seconds(2) } + [fix(2, north: 50)]
          + events.filter { $0.at > .seconds(2) })
          .forEach($0)
      }
      return Self.sorted(figures.variations)
    }
    #expect(try variations([answered(1.1), answered(1.2, 50_000_000)]) == [30_000])
    #expect(try variations([answered(1.9), answered(2.1, 50_000_000)]) == [])
    let lost = Event(at: .seconds(1.2), .ping(.failed(.timeout)))
    #expect(try variations([answered(1.1), lost, answered(1.3, 50_000_000)]) == [])
    #expect(try variations([answered(1.1), answered(1.25, 50_000_000)]) == [30_000])
    #expect(try variations([answered(1.1), answered(1.251, 50_000_000)]) == [], "a ping between them counts elsewhere")
  }

  @Test("when a clock steps by the largest duration, twice, then the sum stops at the limit")
  func largestStep() throws {
    var figures = LogFigures()
    let step = Event(at: .seconds(2), .clockSet(by: .microseconds(Int64.min)))
    _ = try figures.add(log([.seconds(1) ..< .seconds(3)])) { body in
      try body(step)
      try body(step)
    }
    #expect(figures.receiver.clockSteps == 2 && figures.receiver.clockStepMicroseconds == .max)
  }

  @Test("when there are no fences, then no ping counts, but the log does")
  func noFences() throws {
    var figures = LogFigures()
    _ = try figures.add(log([])) { try $0(answered(1)) }
    #expect(figures.delays.count == 0 && figures.logs == 1)
  }
}
