import Coverage

@testable import SpeedTest

/// A loop with a simulated host and a disk: it sends inputs at simulated times and notes the effects.
struct LoopRig {
  static let bootID = "11111111-1111-4111-8111-111111111111"
  /// 2027-01-15T08:00:00Z.
  static let startWall = WallTime(microseconds: 1_800_000_000_000_000)

  var coordinator: LoopCoordinator
  /// CLOCK_BOOTTIME in seconds.
  private(set) var boot: Double
  /// The time that the host was suspended in this boot, in seconds.
  private(set) var suspended = 0.0
  private(set) var wall = LoopRig.startWall
  var isWallTrusted = true
  private(set) var bootID = LoopRig.bootID
  /// The last state that was written.
  private(set) var disk: LoopMemory?
  /// The last wake-up time that the loop requested.
  private(set) var wakeAt: Duration?

  init(_ rules: LoopRules, usage: DataUsage = DataUsage(), boot: Double = 1000) {
    self.boot = boot
    coordinator = LoopCoordinator(rules, usage: usage, bootID: bootID, at: .sample(boot))
  }

  /// Seconds since the rig's start, across boots.
  var time: Double { (wall - Self.startWall).inSeconds }

  var moment: LoopMoment {
    LoopMoment(boot: .seconds(boot), awake: .seconds(boot - suspended), wall: isWallTrusted ? wall : nil)
  }

  /// - Returns: The effects without those on the disk and the timer.
  @discardableResult
  mutating func send(_ input: LoopInput, after seconds: Double = 0) -> [LoopEffect] {
    pass(seconds)
    return note(coordinator.handle(input, at: moment))
  }

  /// A fix `metres` north of the start, with an accuracy in metres.
  @discardableResult
  mutating func fix(_ metres: Double, accuracy: Double? = 4, after seconds: Double = 0) -> [LoopEffect] {
    send(.fix(.sample(metres, accuracy: accuracy)), after: seconds)
  }

  mutating func pass(_ seconds: Double) {
    boot += seconds
    wall = wall.adding(.seconds(seconds))
  }

  mutating func suspend(_ seconds: Double) {
    pass(seconds)
    suspended += seconds
  }

  /// The program ends without warning and starts again `seconds` later.
  mutating func restart(after seconds: Double = 0, _ rules: LoopRules? = nil) -> [LoopEffect] {
    pass(seconds)
    guard let disk else { return [] }
    coordinator = LoopCoordinator(resuming: disk, rules ?? coordinator.rules, bootID: bootID, at: moment)
    wakeAt = nil
    return send(.tick)
  }

  /// A power loss: the host starts again `seconds` later, and the program `uptime` seconds after that.
  mutating func reboot(after seconds: Double, uptime: Double = 20) -> [LoopEffect] {
    powerOn(after: seconds, uptime: uptime)
    return restart()
  }

  mutating func powerOn(after seconds: Double, uptime: Double) {
    pass(seconds + uptime)
    (boot, suspended, bootID) = (uptime, 0, bootID + "+")
  }

  /// Applies the effects on the disk and the timer.
  /// - Returns: The other effects.
  mutating func note(_ effects: [LoopEffect]) -> [LoopEffect] {
    effects.filter { effect in
      switch effect {
      case .persist(let memory): disk = memory
      case .wake(let time): wakeAt = time
      default: return true
      }
      return false
    }
  }
}

extension LoopMoment {
  static func sample(_ boot: Double) -> LoopMoment {
    LoopMoment(boot: .seconds(boot), awake: .seconds(boot), wall: LoopRig.startWall)
  }
}

extension Fix {
  static func sample(_ metres: Double, accuracy: Double? = 4) -> Fix {
    Fix(coordinate: Coordinate(latitude: 48.2 + metres / 111_200, longitude: 16.37), accuracy: accuracy)
  }
}

extension LoopEffect {
  static func start(_ number: Int, _ loopUUID: String? = nil) -> LoopEffect {
    .startTest(number: number, loopUUID: loopUUID)
  }

  /// A notice of a hold other than a data limit.
  static func notice(_ number: Int, _ hold: LoopHold) -> LoopEffect {
    .notice(LoopNotice(number: number, hold: hold, used: 0, limit: 0, isDateKnown: true))
  }
}

extension LoopInput {
  static func completed(_ number: Int) -> LoopInput { .testEnded(number: number, hasResult: true) }
  static func failed(_ number: Int) -> LoopInput { .testEnded(number: number, hasResult: false) }
}
