import Store
import TestSupport
import Testing

@testable import Coverage
@testable import Export

/// Outages of pings and of fences, and the gaps between fences, against runs that are computed independently.
@Suite struct OutageTests {
  // MARK: Pings

  private static let place = Coordinate(latitude: 48, longitude: 16)

  /// Outages of pings that are sent ten times a second: `-` is lost, `+` answered, `.` not sent, `|` a pause on Wi-Fi.
  private func outages(_ pings: String) -> (outages: Outages, longestRun: Int) {
    var finder = PingOutages(started: .sampleStart, interval: .milliseconds(100))
    for (tenth, sign) in pings.enumerated() {
      let at = DriveTime.seconds(Double(tenth) / 10)
      switch sign {
      case "-": finder.add(.sample(at: at, nil), at: Self.place)
      case "+": finder.add(.sample(at: at, 20_000_000), at: Self.place)
      case "|": finder.end()
      default: break
      }
    }
    finder.end()
    return (finder.outages, finder.longestRun)
  }

  @Test("when pings are lost in a row for a second, then it is an outage of that time; shorter runs are loss")
  func threshold() {
    let (outages, run) = outages("+" + String(repeating: "-", count: 10) + "+-+---------+")
    #expect((outages.count, outages.microseconds, run) == (1, 1_000_000, 10))
    #expect(
      outages.longest
        == .init(
          began: .sampleStart.later(by: .milliseconds(100)), place: Self.place, link: nil, microseconds: 1_000_000,
          pings: 10))
  }

  @Test("when 434 pings are lost, then it is one outage of 43.4 s, and one up to the end of the log counts as well")
  func long() {
    let lost = String(repeating: "-", count: 434)
    #expect(outages("+" + lost + "+").outages.microseconds == 43_400_000)
    #expect(outages("+" + lost).outages.longest?.pings == 434)
  }

  @Test(
    "when no ping is sent for up to 5 s, then an outage goes on; after a longer pause, and after Wi-Fi, it is another")
  func pauses() {
    let lost = String(repeating: "-", count: 20)
    #expect(outages(lost + String(repeating: ".", count: 49) + lost).outages.count == 1)
    #expect(outages(lost + String(repeating: ".", count: 50) + lost).outages.count == 2)
    #expect(outages(lost + "|" + lost).outages.microseconds == 4_000_000)
    #expect(outages("--" + String(repeating: ".", count: 40) + "+").outages.count == 0, "two pings are no run")
  }

  @Test("when pings are ten seconds apart, then losses in a row are one outage")
  func longIntervals() {
    var finder = PingOutages(started: .sampleStart, interval: .seconds(10))
    for number in 0..<60 { finder.add(.sample(at: .seconds(Double(number) * 10), nil), at: Self.place) }
    finder.add(.sample(at: .seconds(700), nil), at: Self.place)
    finder.end()
    #expect((finder.outages.count, finder.outages.microseconds, finder.longestRun) == (1, 600_000_000, 60))
  }

  @Test("when a log has random losses, then outages are those of a literal reading")
  func random() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<100 {
      let pings = String(
        (0..<60).flatMap { _ in
          String(
            repeating: ["-", "+", "."].randomElement(using: &generator) ?? "+",
            count: Int.random(in: 1...30, using: &generator))
        })
      // Pauses are at most 5 s here unless two or more of them meet, so cut at those first.
      let parts = pings.replacing(/\.{50,}/, with: "+").replacing(".", with: "").split(separator: "+")
      let (found, run) = outages(pings)
      #expect(run == parts.map(\.count).max() ?? 0)
      #expect(found.count >= parts.count { $0.count >= 10 })
    }
  }

  // MARK: A log

  @Test("when a drive has tests, a parked hour and a tunnel, then each outage is found once, whatever its fences")
  func drive() throws {
    var events = [Event(at: .start, .session(SessionGrant(testUUID: "T0")))]
    // Lost from 10 to 53.4 s across three tests, in a fence with answers from 200 to 290 s, and without a position from 500 to 520 s.
    let lost = [10.0..<53.4, 200..<290, 500..<520]
    for tenth in 0..<7000 {
      let now = Double(tenth) / 10
      if tenth.isMultiple(of: 10) {
        let north = now < 100 ? now * 15 : 1500
        let coordinate = Coordinate(latitude: 48 + north / 111_195, longitude: 16)
        events.append(
          Event(at: .seconds(now), .fix(now >= 450 && now < 600 ? .lost : Fix(coordinate: coordinate, accuracy: 4))))
      }
      if [200, 350, 480].contains(tenth) {
        events.append(Event(at: .seconds(now), .session(SessionGrant(testUUID: "T\(tenth)"))))
      }
      let isLost = lost.contains { $0.contains(now) }
      events.append(
        Event(at: .seconds(now + 0.05), .ping(isLost ? .failed(.timeout) : .answered(rttNanoseconds: 20_000_000))))
    }
    var engine = Engine()
    for event in events { _ = engine.handle(event) }
    _ = engine.handle(Event(at: .seconds(700), .stop(.user)))
    var figures = ReportFigures()
    for fence in engine.fences { figures.add(.of(fence, session: Int64(fence.session))) }
    figures.endFences()
    let before = figures.outages
    #expect(
      figures.hasOutagesOfFences && before.count == 1 && before.microseconds < 43_400_000, "fences show only this")
    try figures.addLog(of: 1, parameters: Parameters(), initialPath: .cellular) { try events.forEach($0) }
    #expect(!figures.hasOutagesOfFences)
    #expect(figures.outages.count == 3 && figures.outages.microseconds == 153_400_000)
    #expect(figures.outages.longest?.pings == 900 && figures.logged.longestLoss == 900)
    #expect(figures.logged.delays.count == figures.sums.answered)
    #expect(figures.sums.pings + figures.logged.unassigned.outside == 7000 && figures.logged.unassigned.paused == 0)
    #expect(figures.logged.unassigned.outside == engine.pings.outside)
    #expect(figures.shares.parts[.notMeasured]?.microseconds ?? 0 >= 149_000_000, "the time without a position")
  }

  // MARK: Fences

  private func outages(_ fences: [StoredFence]) -> Outages {
    var outages = FenceOutages()
    for fence in fences { outages.add(fence) }
    return outages.outages
  }

  @Test("when the logs are gone, then runs of silent fences are outages, across tests and short gaps")
  func fences() {
    func silent(_ number: Int, _ entered: Double, session: Int64 = 1, answered: Int = 0, pings: Int = 10)
      -> StoredFence
    {
      .of(.sample(number: number, entered: entered, pings: pings, answered: answered), session: session)
    }
    let run = outages([silent(0, 10), silent(1, 14, session: 2), silent(2, 23, session: 2)])
    #expect((run.count, run.microseconds, run.longest?.pings) == (1, 17_000_000, 30))
    #expect(outages([silent(0, 10), silent(1, 19.1)]).count == 2, "a gap of 5.1 s")
    #expect(outages([silent(0, 10), silent(2, 14)]).count == 2, "a fence is missing")
    #expect(outages([silent(0, 10), silent(1, 14, pings: 0), silent(2, 18)]).count == 1, "4 s without pings")
    #expect(outages([silent(0, 10), silent(1, 14, pings: 0), silent(2, 19.1)]).count == 2, "5.1 s without pings")
    #expect(outages([silent(0, 10), silent(1, 14, answered: 1), silent(2, 18)]).count == 2)
    #expect(outages([silent(0, 10, pings: 2)]).count == 0, "two pings are no run")
  }

  // MARK: Gaps

  @Test("when fences have gaps, then their number, sum and longest are those of neighbours in one session")
  func gaps() {
    for seed in 100..<140 as Range<UInt64> {
      var road = RandomRoad(random: SeededGenerator(seed: seed))
      let fences = road.fences(150)
      var quality = Quality()
      for fence in fences { quality.add(fence) }
      let gaps = zip(fences, fences.dropFirst())
        .filter { $0.session.id == $1.session.id && $0.fence.number + 1 == $1.fence.number }
        .map { ($1.fence.entered - $0.exited).inMicroseconds }.filter { $0 > 0 }
      #expect(quality.gaps == gaps.count)
      #expect(quality.gapMicroseconds == gaps.reduce(0, +))
      #expect(quality.longestGap == gaps.max() ?? 0)
    }
  }

  @Test("when a fence between two others is not selected, then its time is no gap")
  func notSelected() {
    var quality = Quality()
    for number in [0, 1, 3] { quality.add(.of(.sample(number: number, entered: 10 + Double(number) * 5, lasted: 4))) }
    #expect(quality.gaps == 1 && quality.gapMicroseconds == 1_000_000)
  }

  @Test("when fences overlap, as after a clock step, then there is no gap")
  func overlap() {
    var quality = Quality()
    quality.add(.of(.sample(number: 0, entered: 10, lasted: 4)))
    quality.add(.of(.sample(number: 1, entered: 12, lasted: 4)))
    #expect(quality.gaps == 0 && quality.gapMicroseconds == 0)
  }

  @Test("when fixes have accuracies, then the percentiles are those of the opening positions, in millimetres")
  func accuracies() throws {
    var quality = Quality()
    let place = try #require(Coordinate(latitude: 48, longitude: 16))
    for metres in [1.234, 2, 3, 4, 14.9995, .infinity, .nan] {
      quality.add(.of(.sample(fix: Fix(coordinate: place, accuracy: metres))))
    }
    quality.add(.of(.sample(fix: Fix(coordinate: place, accuracy: nil))))
    #expect(quality.accuracies.values(atRanks: [1, 2, 5, 6]) == [1234, 2000, 15_000, nil])
  }
}

extension LoggedPings.Ping {
  /// A ping in a fence; `nil` nanoseconds: it was lost.
  fileprivate static func sample(at time: DriveTime, _ nanoseconds: Int64?) -> LoggedPings.Ping {
    LoggedPings.Ping(
      PlacedPing(
        sent: time, outcome: nanoseconds.map { .answered(rttNanoseconds: $0) } ?? .failed(.timeout), place: .fence(0)))
  }
}
