import TestSupport
import Testing

@testable import Coverage

/// Drives with three clocks that lie in turns: the host's, the receiver's and the server's.
struct WallClockPropertySlowTests {
  private static let truth = WallTime.earliestTrusted.adding(.seconds(30 * 86_400))
  private static let lies: [Duration] = [
    .seconds(3600), .seconds(-3600), .seconds(86_400), .seconds(10 * 86_400), .seconds(-10 * 86_400),
    .seconds(59 * 86_400),
    .seconds(11 * 365 * 86_400), .seconds(7 * 86_400 * 1024), .seconds(-7 * 86_400 * 1024), .seconds(60), .seconds(-45),
  ]

  /// A drive whose clocks are off by what chance says.
  private struct Drive {
    /// What the server was told with a request for a test, and the session that came of it.
    struct Told {
      let time: WallTime
      let session: Int
    }

    var random: SeededGenerator
    var clock = WallClock()
    var engine = Engine()
    var now = Duration.seconds(50)
    let startedBoot = Duration.seconds(50)
    var started: WallTime
    var errors: [ClockRuling.Source: Duration] = [.host: .zero, .gnss: .zero, .server: .zero]
    /// What the server said when it was asked last.
    var serverSaid: Duration?
    var told: [Told] = []
    var metres = 0.0
    /// What the receiver has said for the last seconds: a time that has just jumped is not believed yet.
    var receiverSaid: (error: Duration?, seconds: Int) = (nil, 0)

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      started = WallClockPropertySlowTests.truth.adding(startedBoot)
    }

    var at: DriveTime { DriveTime(now - startedBoot) }
    var trueTime: WallTime { WallClockPropertySlowTests.truth.adding(now) }

    /// One second.
    mutating func pass() {
      now += .seconds(1)
      receiverSaid = (errors[.gnss], receiverSaid.error == errors[.gnss] ? receiverSaid.seconds + 1 : 0)
      clock.note(
        gnss: trueTime.adding((errors[.gnss] ?? .zero) - .milliseconds(Int64.random(in: 50...900, using: &random))),
        receiver: "A", at: now)
      if Int.random(in: 0..<40, using: &random) == 0 { ask() }
      follow(clock.judge(host: trueTime.adding(errors[.host] ?? .zero), at: now))
      metres += 12
      let place = Coordinate(latitude: 48, longitude: 16 + metres / 74_000)
      _ = engine.handle(Event(at: at, .fix(Fix(coordinate: place, accuracy: 4))))
    }

    /// A request for a test says the time that rules.
    mutating func ask() {
      serverSaid = errors[.server]
      let date = trueTime.adding(errors[.server] ?? .zero).milliseconds / 1000
      clock.note(
        server: WallTime(microseconds: date * 1_000_000), at: now,
        roundTrip: .milliseconds(Int64.random(in: 20...900, using: &random)))
      let time = started + at
      let grant = SessionGrant(testUUID: "T\(told.count)", anchor: time.since(started))
      _ = engine.handle(Event(at: at, .session(grant)))
      told.append(Told(time: time, session: engine.sessions.count - 1))
    }

    /// As a live drive does it.
    private mutating func follow(_ ruling: ClockRuling) {
      let step = ruling.wall(at: startedBoot) - started
      guard ruling.isTrusted, step >= .seconds(1) || step <= .seconds(-1) else { return }
      started = started.adding(step)
      _ = engine.handle(Event(at: at, .clockSet(by: step)))
    }

    /// Which clocks contradict that the boot was at `booted`, by their errors alone.
    func contradicting(_ booted: WallTime) -> [ClockRuling.Source] {
      let off = booted - WallClockPropertySlowTests.truth
      let receiver = receiverSaid.seconds > 15 ? receiverSaid.error : nil
      let said = [(ClockRuling.Source.host, errors[.host]), (.gnss, receiver), (.server, serverSaid)]
      return said.filter { _, error in
        guard let error, WallTime.plausible.contains(trueTime.adding(error)) else { return false }
        let difference = error - off
        return difference > .seconds(8) || difference < .seconds(-8)
      }.map(\.0)
    }

    /// The times of all fences as the server reckons them.
    var timesAtServer: [WallTime] {
      engine.fences.compactMap { fence in
        guard let anchor = engine.sessions[fence.session].anchor,
          let told = told.last(where: { $0.session == fence.session })
        else { return nil }
        return told.time.adding(fence.entered - anchor)
      }
    }

    var trueTimes: [WallTime] {
      engine.fences.filter { engine.sessions[$0.session].anchor != nil }
        .map { WallClockPropertySlowTests.truth.adding(startedBoot + $0.entered.sinceStart) }
    }
  }

  @Test("when three clocks lie in turns, then each fence has its true time at the server, and anchors stay as said")
  func inTurns() {
    let seed = SeededGenerator.seedOfThisRun
    for round in 0..<60 {
      var drive = Drive(seed: seed &+ UInt64(round))
      // Each has told the truth once.
      for _ in 0..<120 { drive.pass() }
      for lie in Self.lies.shuffled(using: &drive.random) {
        let liar = ClockRuling.Source.allCases.randomElement(using: &drive.random) ?? .host
        drive.errors = [.host: .zero, .gnss: .zero, .server: .zero]
        drive.errors[liar] = lie
        drive.ask()
        for _ in 0..<Int.random(in: 1...90, using: &drive.random) {
          drive.pass()
          let error = (drive.clock.ruling?.booted ?? .earliestTrusted) - Self.truth
          #expect(
            error < .seconds(5) && error > .seconds(-5), "seed \(seed), round \(round): \(liar) lies, off by \(error)")
        }
      }
      check(drive, "seed \(seed), round \(round)")
      let pairs = zip(drive.timesAtServer, drive.trueTimes)
      #expect(pairs.allSatisfy { $0 - $1 < .seconds(5) && $1 - $0 < .seconds(5) }, "seed \(seed), round \(round)")
    }
  }

  @Test("when any clocks lie at once, then no drive is moved to a time that two of three contradict")
  func anyLies() {
    let seed = SeededGenerator.seedOfThisRun
    for round in 0..<200 {
      var drive = Drive(seed: seed &+ 1000 &+ UInt64(round))
      drive.ask()
      for _ in 0..<10 {
        for source in ClockRuling.Source.allCases where Bool.random(using: &drive.random) {
          drive.errors[source] =
            Bool.random(using: &drive.random) ? .zero : Self.lies.randomElement(using: &drive.random) ?? .zero
        }
        for _ in 0..<Int.random(in: 1...60, using: &drive.random) {
          let before = drive.started
          drive.pass()
          guard drive.started != before, drive.serverSaid != nil else { continue }
          let against = drive.contradicting(drive.clock.ruling?.booted ?? .earliestTrusted)
          #expect(
            against.count < 2, "seed \(seed), round \(round), \(drive.now): \(drive.clock.ruling?.description ?? "")")
        }
      }
      check(drive, "seed \(seed), round \(round)")
    }
  }

  /// What was said to the server stays, and what it reckons from that is what the drive reckons.
  private func check(_ drive: Drive, _ what: String) {
    for told in drive.told {
      let session = drive.engine.sessions[told.session]
      guard drive.told.last(where: { $0.session == told.session })?.time == told.time, let anchor = session.anchor
      else {
        continue
      }
      #expect(drive.started + anchor == told.time, "\(what): the anchor of session \(told.session) has moved")
    }
    let reckoned = drive.engine.fences.filter { drive.engine.sessions[$0.session].anchor != nil }
      .map { drive.started + $0.entered }
    #expect(reckoned == drive.timesAtServer, "\(what)")
    #expect(reckoned.count > 10)
  }
}
