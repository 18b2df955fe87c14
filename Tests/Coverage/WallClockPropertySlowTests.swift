import TestSupport
import Testing

@testable import Coverage

/// Drives with three clocks that are wrong in turn: the host's, the receiver's and the server's.
struct WallClockPropertySlowTests {
  private static let truth = WallTime.earliestTrusted.adding(.seconds(30 * 86_400))
  private static let lies: [Duration] = [
    .seconds(3600), .seconds(-3600), .seconds(86_400), .seconds(10 * 86_400), .seconds(-10 * 86_400),
    .seconds(59 * 86_400),
    .seconds(11 * 365 * 86_400), .seconds(7 * 86_400 * 1024), .seconds(-7 * 86_400 * 1024), .seconds(60), .seconds(-45),
  ]

  /// A drive whose clocks have random errors.
  private struct Drive {
    /// The time that a request for a test sent to the server, and the resulting session.
    struct Request {
      let time: WallTime
      let session: Int
    }

    var random: SeededGenerator
    var clock = WallClock()
    var engine = Engine()
    var now = Duration.seconds(50)
    let startedBoot = Duration.seconds(50)
    var started: WallTime
    var errors: [ClockSelection.Source: Duration] = [.host: .zero, .gnss: .zero, .server: .zero]
    /// The error of the server's clock at the last request.
    var serverError: Duration?
    var requests: [Request] = []
    var metres = 0.0
    /// The error of the receiver's clock, and for how many seconds: a time that has just jumped is not trusted yet.
    var receiverState: (error: Duration?, seconds: Int) = (nil, 0)

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      started = WallClockPropertySlowTests.truth.adding(startedBoot)
    }

    var at: DriveTime { DriveTime(now - startedBoot) }
    var trueTime: WallTime { WallClockPropertySlowTests.truth.adding(now) }

    /// Advances the drive by one second.
    mutating func pass() {
      now += .seconds(1)
      receiverState = (errors[.gnss], receiverState.error == errors[.gnss] ? receiverState.seconds + 1 : 0)
      clock.note(
        gnss: trueTime.adding((errors[.gnss] ?? .zero) - .milliseconds(Int64.random(in: 50...900, using: &random))),
        receiver: "A", at: now)
      if Int.random(in: 0..<40, using: &random) == 0 { ask() }
      follow(clock.select(host: trueTime.adding(errors[.host] ?? .zero), at: now))
      metres += 12
      let place = Coordinate(latitude: 48, longitude: 16 + metres / 74_000)
      _ = engine.handle(Event(at: at, .fix(Fix(coordinate: place, accuracy: 4))))
    }

    /// Requests a test; the request carries the selected time.
    mutating func ask() {
      serverError = errors[.server]
      let date = trueTime.adding(errors[.server] ?? .zero).milliseconds / 1000
      clock.note(
        server: WallTime(microseconds: date * 1_000_000), at: now,
        roundTrip: .milliseconds(Int64.random(in: 20...900, using: &random)))
      let time = started + at
      let grant = SessionGrant(testUUID: "T\(requests.count)", anchor: time.since(started))
      _ = engine.handle(Event(at: at, .session(grant)))
      requests.append(Request(time: time, session: engine.sessions.count - 1))
    }

    /// Follows a selection as a live drive does.
    private mutating func follow(_ selection: ClockSelection) {
      let step = selection.wall(at: startedBoot) - started
      guard selection.isTrusted, step >= .seconds(1) || step <= .seconds(-1) else { return }
      started = started.adding(step)
      _ = engine.handle(Event(at: at, .clockSet(by: step)))
    }

    /// The clocks that contradict a boot at `booted`, by their errors alone.
    func contradicting(_ booted: WallTime) -> [ClockSelection.Source] {
      let off = booted - WallClockPropertySlowTests.truth
      let receiver = receiverState.seconds > 15 ? receiverState.error : nil
      let readings = [(ClockSelection.Source.host, errors[.host]), (.gnss, receiver), (.server, serverError)]
      return readings.filter { _, error in
        guard let error, WallTime.plausible.contains(trueTime.adding(error)) else { return false }
        let difference = error - off
        return difference > .seconds(8) || difference < .seconds(-8)
      }.map(\.0)
    }

    /// The times of all fences as the server computes them.
    var timesAtServer: [WallTime] {
      engine.fences.compactMap { fence in
        guard let anchor = engine.sessions[fence.session].anchor,
          let request = requests.last(where: { $0.session == fence.session })
        else { return nil }
        return request.time.adding(fence.entered - anchor)
      }
    }

    var trueTimes: [WallTime] {
      engine.fences.filter { engine.sessions[$0.session].anchor != nil }
        .map { WallClockPropertySlowTests.truth.adding(startedBoot + $0.entered.sinceStart) }
    }
  }

  @Test("when three clocks are wrong in turn, then each fence has its true time at the server, and sent anchors stay")
  func inTurns() {
    let seed = SeededGenerator.seedOfThisRun
    for round in 0..<60 {
      var drive = Drive(seed: seed &+ UInt64(round))
      // Each clock has been right once.
      for _ in 0..<120 { drive.pass() }
      for lie in Self.lies.shuffled(using: &drive.random) {
        let liar = ClockSelection.Source.allCases.randomElement(using: &drive.random) ?? .host
        drive.errors = [.host: .zero, .gnss: .zero, .server: .zero]
        drive.errors[liar] = lie
        drive.ask()
        for _ in 0..<Int.random(in: 1...90, using: &drive.random) {
          drive.pass()
          let error = (drive.clock.selection?.booted ?? .earliestTrusted) - Self.truth
          #expect(
            error < .seconds(5) && error > .seconds(-5), "seed \(seed), round \(round): \(liar) wrong, off by \(error)")
        }
      }
      check(drive, "seed \(seed), round \(round)")
      let pairs = zip(drive.timesAtServer, drive.trueTimes)
      #expect(pairs.allSatisfy { $0 - $1 < .seconds(5) && $1 - $0 < .seconds(5) }, "seed \(seed), round \(round)")
    }
  }

  @Test("when any clocks are wrong at once, then no drive moves to a time that two of three clocks contradict")
  func anyLies() {
    let seed = SeededGenerator.seedOfThisRun
    for round in 0..<200 {
      var drive = Drive(seed: seed &+ 1000 &+ UInt64(round))
      drive.ask()
      for _ in 0..<10 {
        for source in ClockSelection.Source.allCases where Bool.random(using: &drive.random) {
          drive.errors[source] =
            Bool.random(using: &drive.random) ? .zero : Self.lies.randomElement(using: &drive.random) ?? .zero
        }
        for _ in 0..<Int.random(in: 1...60, using: &drive.random) {
          let before = drive.started
          drive.pass()
          guard drive.started != before, drive.serverError != nil else { continue }
          let against = drive.contradicting(drive.clock.selection?.booted ?? .earliestTrusted)
          #expect(
            against.count < 2, "seed \(seed), round \(round), \(drive.now): \(drive.clock.selection?.description ?? "")"
          )
        }
      }
      check(drive, "seed \(seed), round \(round)")
    }
  }

  /// The times sent to the server stay valid, and the server computes the same times of fences as the drive.
  private func check(_ drive: Drive, _ what: String) {
    for request in drive.requests {
      let session = drive.engine.sessions[request.session]
      guard drive.requests.last(where: { $0.session == request.session })?.time == request.time,
        let anchor = session.anchor
      else {
        continue
      }
      #expect(drive.started + anchor == request.time, "\(what): the anchor of session \(request.session) has moved")
    }
    let computed = drive.engine.fences.filter { drive.engine.sessions[$0.session].anchor != nil }
      .map { drive.started + $0.entered }
    #expect(computed == drive.timesAtServer, "\(what)")
    #expect(computed.count > 10)
  }
}
