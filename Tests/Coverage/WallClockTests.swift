import Testing

@testable import Coverage

/// Which of a host's three clocks rules, when each can be right or wrong.
struct WallClockTests {
  private static let truth = WallTime.earliestTrusted.adding(.seconds(30 * 86_400))
  private static let hour = Duration.seconds(3600)
  private static let day = Duration.seconds(86_400)

  /// A host with a receiver and a server. The test sets the error of each clock. Time passes in steps of a second.
  private struct World {
    var clock = WallClock()
    var now = Duration.seconds(100)
    /// The error of the host's clock; `nil` without such a clock.
    var host: Duration? = .zero
    /// As the kernel states it; `nil` without a time service.
    var maximumError: Duration?
    var receivers: [String: Duration] = [:]
    var gnss: Duration? {
      get { receivers["/dev/gps0"] }
      set { receivers["/dev/gps0"] = newValue }
    }

    var trueTime: WallTime { WallClockTests.truth.adding(now) }

    mutating func pass(_ seconds: Int) {
      for _ in 0..<seconds {
        now += .seconds(1)
        for (name, error) in receivers {
          // The serial line delays the time.
          let time = trueTime.adding(error - .milliseconds(300))
          clock.note(gnss: time, receiver: name, at: now)
        }
        judge()
      }
    }

    mutating func ask(serverOff error: Duration = .zero) {
      let date = trueTime.adding(error).milliseconds / 1000
      clock.note(server: WallTime(microseconds: date * 1_000_000), at: now, roundTrip: .milliseconds(80))
      judge()
    }

    private mutating func judge() {
      clock.select(host: host.map { trueTime.adding($0) }, at: now, maximumError: maximumError)
    }

    /// The difference between the selection and the true time.
    var error: Duration { (clock.selection?.wall(at: now) ?? WallTime(microseconds: 0)) - trueTime }

    func isRight(within limit: Duration = .seconds(2)) -> Bool { error <= limit && error >= .zero - limit }
  }

  // MARK: A late receiver

  @Test(
    "when a receiver is seconds late and the server agrees with the confirmed time, then the time does not move",
    arguments: [-2200, -3400])
  func lateReceiver(_ milliseconds: Int) {
    var world = World()
    world.ask()
    world.pass(2)
    world.host = Self.hour
    world.gnss = .milliseconds(milliseconds)
    world.pass(30)
    #expect(world.isRight(within: .milliseconds(100)), "\(world.error)")
  }

  @Test(
    "when a receiver is up to 2.6 s late and the host is right, then the host's time stays and no clock is said to contradict",
    arguments: [(-1300, false), (-2000, false), (-2600, false), (-2600, true)])
  func lateReceiverAlone(_ milliseconds: Int, isAsked: Bool) {
    var world = World()
    world.gnss = .milliseconds(milliseconds)
    world.pass(30)
    if isAsked { world.ask() }
    world.pass(2000)
    #expect(world.error == .zero)
    #expect(world.clock.selection?.contradicting == [] && world.clock.selection?.reason == .agreement)
  }

  @Test("when a host without a time service is 2 s behind a receiver, then the receiver rules: no line advances a time")
  func lateHost() {
    var world = World()
    (world.host, world.gnss) = (.seconds(-2), .zero)
    world.pass(30)
    #expect(world.isRight(within: .milliseconds(400)), "\(world.error)")
    #expect(world.clock.selection?.contradicting == [] && world.clock.selection?.reason == .agreement)
  }

  @Test("when the host is 2 s ahead and both receiver and server are right, then the host does not rule")
  func hastyHost() {
    var world = World()
    (world.host, world.gnss) = (.seconds(2), .zero)
    world.ask()
    world.pass(30)
    #expect(world.isRight(within: .milliseconds(400)), "\(world.error)")
  }

  @Test(
    "when a receiver is 1.5 s late and the server's date is cached for a second, then the server does not move the right host"
  )
  func cachedDate() {
    var world = World()
    world.gnss = .milliseconds(-1250)
    world.pass(30)
    for error in [0, -300, -700, -1000] {
      world.ask(serverOff: .milliseconds(error))
      world.pass(1)
      #expect(world.error == .zero, "the date is \(error) ms late")
    }
  }

  @Test("when a confirmed host is set 2 s ahead by hand and the receiver stays, then the step is not followed")
  func smallStep() {
    var world = World()
    world.gnss = .zero
    world.pass(30)
    world.host = .seconds(2)
    world.pass(2000)
    #expect(world.isRight(within: .milliseconds(400)), "\(world.error)")
  }

  @Test(
    "when a receiver is many seconds late and a time service disciplines the host, then the receiver never rules",
    arguments: [-5, -12])
  func disciplinedHost(_ seconds: Int) {
    var world = World()
    world.maximumError = .milliseconds(200)
    world.gnss = .seconds(seconds)
    world.pass(60)
    // The network is gone: the kernel no longer vouches for the clock, and what it said holds for an hour.
    world.maximumError = nil
    world.pass(3600)
    #expect(world.error == .zero)
    var other = World()
    other.gnss = .seconds(seconds)
    other.pass(2000)
    #expect(
      other.isRight(within: .seconds(-seconds + 1)) && other.error < .seconds(-4),
      "without the service it rules in the end")
  }

  @Test("when a time service corrects the host by 2 s, then the correction is followed against a late receiver")
  func corrected() {
    var world = World()
    (world.host, world.gnss) = (.seconds(-2), .seconds(-2))
    world.pass(60)
    #expect(world.clock.selection?.isConfirmed == true && !world.isRight(within: .seconds(1)))
    (world.host, world.maximumError) = (.zero, .milliseconds(100))
    world.pass(2)
    #expect(world.error == .zero)
  }

  @Test("when a clock that a time service disciplined is set by hand, then it no longer counts as disciplined")
  func setByHand() {
    var world = World()
    world.maximumError = .zero
    world.pass(3)
    (world.host, world.maximumError) = (.seconds(10), nil)
    world.gnss = .zero
    world.pass(2000)
    #expect(world.isRight(within: .milliseconds(400)), "\(world.error)")
  }

  // MARK: One clock

  @Test("when only the host's clock is known, then it rules, and its steps are followed")
  func hostAlone() {
    var world = World()
    world.pass(5)
    #expect(world.clock.selection?.source == .host && world.clock.selection?.reason == .alone && world.isRight())
    world.host = Self.hour
    world.pass(1)
    #expect(world.error == Self.hour)
    world.host = .zero
    world.pass(1)
    #expect(world.error == .zero)
    #expect(world.clock.selection?.isConfirmed == false)
  }

  @Test("when the host's clock begins in 1970, then a receiver's steady time rules within seconds")
  func hostNotSet() {
    var world = World()
    world.host = .zero - Self.day * 365 * 56
    world.pass(3)
    #expect(world.clock.selection?.isTrusted == false, "no clock can be right yet")
    world.gnss = .zero
    world.pass(6)
    #expect(world.clock.selection?.source == .gnss && world.clock.selection?.reason == .hostNotSet && world.isRight())
    world.host = .zero
    world.pass(1)
    #expect(world.clock.selection?.isConfirmed == true && world.isRight())
  }

  @Test("when the host's clock falls back to 1970 in mid-drive, then the time goes on")
  func hostLost() {
    var world = World()
    world.pass(5)
    world.host = .zero - Self.day * 365 * 56
    world.pass(5)
    #expect(world.isRight() && world.clock.selection?.isTrusted == true)
  }

  // MARK: Steps that are contradicted

  @Test(
    "when the host's clock steps and the receiver contradicts it, then the step is not followed",
    arguments: [hour, day * 10, day * 365 * 12, .zero - hour])
  func stepAgainstReceiver(_ step: Duration) {
    var world = World()
    world.gnss = .zero
    world.pass(10)
    world.host = step
    world.pass(60)
    #expect(world.isRight(), "\(world.error)")
    #expect(world.clock.selection?.contradicting == [.host])
  }

  @Test(
    "when the host's clock steps and the server's Date contradicts it, then the step is not followed, or undone",
    arguments: [true, false])
  func stepAgainstServer(isAskedBefore: Bool) {
    var world = World()
    world.pass(5)
    if isAskedBefore { world.ask() }
    world.host = Self.hour
    world.pass(30)
    if !isAskedBefore {
      #expect(world.error == Self.hour, "nothing contradicts it yet")
      world.ask()
    }
    #expect(world.isRight() && world.clock.selection?.reason == .contradictedStep)
  }

  @Test("when the host's clock is set right, and another clock agrees, then the step is followed")
  func rightStep() {
    var world = World()
    world.host = .zero - Self.day * 3
    world.pass(5)
    #expect(world.error == .zero - Self.day * 3, "nothing contradicts it yet")
    world.gnss = .zero
    world.pass(20)
    world.host = .zero
    world.pass(1)
    #expect(world.isRight() && world.clock.selection?.reason == .agreement)
  }

  // MARK: Two that agree

  @Test("when any two of three clocks agree, then they rule")
  func majorities() {
    for wrong in 0..<3 {
      var world = World()
      world.host = wrong == 0 ? Self.day * 10 : .zero
      world.gnss = wrong == 1 ? Self.day * 10 : .zero
      world.pass(10)
      world.ask(serverOff: wrong == 2 ? Self.day * 10 : .zero)
      world.pass(100)
      #expect(world.isRight(), "\(wrong): \(world.error)")
      #expect(world.clock.selection?.isConfirmed == true)
      #expect(world.clock.selection?.contradicting.count == 1)
    }
  }

  @Test("when two receivers agree against the host, then they rule")
  func twoReceivers() {
    var world = World()
    world.host = Self.day * 10
    world.pass(3)
    world.receivers = ["/dev/gps0": .zero, "/dev/gps1": .milliseconds(-200)]
    world.pass(10)
    #expect(world.isRight() && world.clock.selection?.isConfirmed == true)
  }

  @Test("when all three clocks disagree, then the time does not move")
  func threeOpinions() {
    var world = World()
    world.gnss = .zero
    world.pass(10)
    world.ask()
    (world.host, world.gnss) = (Self.hour, Self.day)
    world.pass(60)
    world.ask(serverOff: .zero - Self.day)
    world.pass(60)
    #expect(world.isRight(), "\(world.error)")
  }

  @Test(
    "when the host's clock is days slow and only a steady receiver contradicts it, then the receiver rules in the end"
  )
  func steadyReceiver() {
    var world = World()
    world.host = .zero - Self.day * 3
    world.gnss = .zero
    world.pass(30)
    #expect(world.error == .zero - Self.day * 3, "not at once")
    world.pass(60)
    #expect(world.isRight() && world.clock.selection?.reason == .steady && world.clock.selection?.isConfirmed == false)
    world.pass(60)
    #expect(world.clock.selection?.reason == .steady && world.clock.selection?.isConfirmed == false)
  }

  @Test("when a receiver does not know the leap seconds yet, then it does not overrule the host")
  func leapSeconds() {
    var world = World()
    world.gnss = .seconds(18)
    world.pass(750)
    #expect(world.error == .zero)
    world.gnss = .zero
    world.pass(60)
    #expect(world.isRight() && world.clock.selection?.isConfirmed == true)
  }

  // MARK: Receivers that are not trusted

  @Test(
    "when a receiver counts weeks wrongly by a rollover, then its time is ignored",
    arguments: [day * 7 * 1024, .zero - day * 7 * 1024, day * 7 * 2048])
  func rollover(_ error: Duration) {
    var world = World()
    world.gnss = error
    world.pass(300)
    #expect(world.error == .zero && world.clock.selection?.reason == .alone)
    #expect(world.clock.selection?.contradicting == [])
  }

  @Test("when a recording is played three times as fast, then its time is ignored")
  func playedFast() {
    var world = World()
    for second in 0..<200 {
      world.gnss = .seconds(2 * second)
      world.pass(1)
    }
    #expect(world.error == .zero && world.clock.selection?.agreeing == [.host])
  }

  @Test("when single epochs are old, then the receiver's time does not change")
  func oldEpochs() {
    var world = World()
    world.gnss = .zero
    world.pass(10)
    for _ in 0..<20 {
      world.gnss = .seconds(-15)
      world.pass(3)
      world.gnss = .zero
      world.pass(3)
    }
    world.host = Self.hour
    world.pass(5)
    #expect(world.isRight())
  }

  // MARK: Readings

  @Test("when the boot-time clock drifts for a day, then the clocks still agree")
  func drift() {
    var world = World()
    world.gnss = .zero
    world.pass(10)
    world.ask()
    for _ in 0..<8640 {
      world.now += .seconds(9)
      // 50 parts per million.
      world.host = world.host.map { $0 + .microseconds(500) }
      world.gnss = world.gnss.map { $0 + .microseconds(500) }
      world.pass(1)
    }
    #expect(world.clock.selection?.contradicting == [], "\(String(describing: world.clock.selection))")
    #expect(world.isRight(within: .seconds(7)))
  }

  @Test("when a slow answer carries a time, then it does not replace the time of a quick answer")
  func slowAnswer() {
    var world = World()
    world.pass(5)
    world.ask()
    let before = world.clock
    world.clock.note(server: world.trueTime.adding(.seconds(-6)), at: world.now, roundTrip: .seconds(12))
    #expect(world.clock == before)
  }

  @Test("when readings are at the ends of their range, then nothing overflows")
  func extremes() {
    let extremes = [WallTime(microseconds: .min), WallTime(microseconds: .max), .earliestTrusted]
    let spans: [Duration] = [.zero, .seconds(Int64.max / 4), .zero - .seconds(Int64.max / 4)]
    for first in extremes {
      for second in extremes {
        for span in spans {
          var clock = WallClock()
          for _ in 0..<6 {
            clock.note(gnss: first, receiver: nil, at: span)
            clock.note(server: second, at: span, roundTrip: span)
            clock.select(host: first, at: span)
            clock.select(host: second, at: span)
          }
          clock.note(formerBoots: [first, second])
          _ = clock.agreement(at: span)
          _ = clock.isPossible(at: .seconds(1))
        }
      }
    }
  }

  // MARK: Ages

  @Test(
    "when no other clock is known, then ages count only after the clock has run for a day")
  func dayOfRunning() {
    var world = World()
    world.host = Self.day * 40
    world.pass(3)
    #expect(world.clock.agreement(at: world.now) == .silent)
    world.now += Self.day - .seconds(10)
    world.pass(1)
    #expect(world.clock.agreement(at: world.now) == .silent)
    world.now += .seconds(10)
    world.pass(1)
    #expect(world.clock.agreement(at: world.now) == .agrees)
    world.host = Self.hour
    world.pass(1)
    #expect(world.clock.agreement(at: world.now) == .silent, "a clock that was set must run for a day again")
  }

  @Test("when the host is suspended for two days, then the suspension does not count as running time")
  func asleep() {
    var clock = WallClock()
    let (wall, minute) = (Self.truth, Duration.seconds(60))
    clock.select(host: wall, at: minute, awake: minute)
    let (boot, awake) = (Self.day * 3, minute * 6)
    clock.select(host: wall.adding(boot - minute), at: boot, awake: awake)
    #expect(clock.agreement(at: boot, awake: awake) == .silent)
    #expect(clock.agreement(at: boot + Self.day, awake: awake + Self.day - minute * 6) == .silent)
    #expect(clock.agreement(at: boot + Self.day, awake: minute + Self.day) == .agrees)
  }

  @Test("when the receiver or the server agrees, then ages count; when one contradicts, they do not")
  func witnesses() {
    var world = World()
    world.gnss = .zero
    world.pass(10)
    #expect(world.clock.agreement(at: world.now) == .agrees)
    var other = World()
    other.host = Self.day * 40
    other.pass(3)
    other.ask()
    #expect(other.clock.agreement(at: other.now) == .contradicts)
    other.now += Self.day * 2
    other.pass(1)
    #expect(other.clock.agreement(at: other.now) == .contradicts, "running for long is no proof against another clock")
  }
}
