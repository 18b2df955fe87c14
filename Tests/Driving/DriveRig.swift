import Logging
import Settings
import TestSupport

@testable import Coverage
@testable import Driving
@testable import Pinging
@testable import Positioning
@testable import Submission

/// A drive with a clock that the test moves, a disk in memory, and a pinger that sends nothing.
struct DriveRig {
  static let startedBoot: UInt64 = 1_000_000_000_000
  private let instant = ContinuousClock.now
  private(set) var drive: Drive
  /// Now, in nanoseconds on CLOCK_BOOTTIME.
  private(set) var boot = startedBoot
  var disk = ModelDisk()
  /// The reason why pings cannot begin; `nil`: they can.
  var pingTrouble: String?
  /// All effects so far except those of the disk.
  private(set) var effects: [DriveEffect] = []
  private(set) var liveTargets: Set<PingTarget.ID> = []
  private(set) var lastTarget: PingTarget.ID = 0
  /// The request that is under way.
  private(set) var request: TestRequest?
  /// Runs the effects of the disk in place of ``disk``.
  var otherDisk: ((DiskEffect) -> DiskAnswer?)?
  /// The process is killed before the effect of the disk with that number; `nil`: never.
  var killedAt: Int?
  private(set) var diskEffects = 0
  private(set) var isKilled = false
  /// Whether pings are on their way when the drive ends; else the pinger gives its last verdict at once.
  var hasPingsOnTheirWay = false
  /// Called before each effect.
  var onEffect: (DriveEffect) -> Void = { _ in }

  init(
    _ change: (inout DriveOptions) -> Void = { _ in }, path: Path = .cellular, loopUUID: String? = nil,
    isClockTrusted: Bool = true
  ) {
    let link = LinkSettings(name: nil, interface: nil, network: .auto, radio: .none)
    var options = DriveOptions(links: [link])
    change(&options)
    let clock = DriveClock(Self.reading(isTrusted: isClockTrusted), now: (Self.startedBoot, instant))
    drive = Drive(options, link: link, clock: clock, path: path, loopUUID: loopUUID)
  }

  /// - Parameter step: The lead of the clock over the clock at the start.
  static func reading(step: Duration = .zero, isTrusted: Bool = true, boot: UInt64 = startedBoot) -> Timekeeper.Reading
  {
    let since = Duration.nanoseconds(Int64(startedBoot))
    let booted = WallTime.sampleStart.adding(step - since)
    return Timekeeper.Reading(
      selection: ClockSelection(
        booted: booted, source: .host, reason: .alone, isConfirmed: false, isTrusted: isTrusted),
      boot: .nanoseconds(Int64(boot)), hostLead: nil)
  }

  // MARK: Inputs

  var now: DriveTime { drive.clock.time(ofSlot: boot) }

  mutating func wait(_ seconds: Double) { boot += UInt64(seconds * 1e9) }

  /// - Parameter decides: Whether no later input waits.
  mutating func feed(_ input: DriveInput, decides: Bool = true) {
    guard !isKilled else { return }
    var drive = drive
    drive.run(input, decides: decides, now: { [boot] in boot }) { perform($0) }
    self.drive = drive
    if drive.isEnding, !hasPingsOnTheirWay { ping(.finished) }
  }

  mutating func tick(step: Duration = .zero, isTrusted: Bool = true, isCaptureInTrouble: Bool = false) {
    let reading = Self.reading(step: step, isTrusted: isTrusted, boot: boot)
    feed(.tick(DriveReadings(clock: reading, isCaptureInTrouble: isCaptureInTrouble)))
  }

  /// A position `metres` north of the first one.
  mutating func fix(
    _ metres: Double, accuracy: Double? = 5, ago: Double = 0, model: String? = nil, decides: Bool = true
  ) {
    let place = Coordinate(latitude: 48.2 + metres / 111_200, longitude: 16.37)
    let delivered = instant + .nanoseconds(Int64(boot - Self.startedBoot))
    feed(
      .positioning(
        .fix(
          PositionedFix(
            fix: Fix(coordinate: place, accuracy: accuracy), arrival: delivered - .seconds(ago), delivered: delivered,
            model: model))),
      decides: decides)
  }

  /// - Parameter ago: The time since the ping was sent, in seconds.
  mutating func ping(_ kind: PingEvent.Kind, target: PingTarget.ID? = nil, ago: Double = 0) {
    feed(.ping(.sample(kind, target: target ?? lastTarget, slot: boot - UInt64(ago * 1e9))))
  }

  /// The answer to the request that is under way.
  mutating func grant(_ test: String, host: String = "server.example", _ members: String = "") throws -> GrantedTest? {
    guard let request else { return nil }
    self.request = nil
    let grant = GrantedTest(
      coverage: try .sample(test, host: host, members), generation: request.generation, requested: request.at,
      requestTime: request.time)
    feed(.granted(grant, for: request.generation))
    return grant
  }

  mutating func failRequest(_ trouble: TestTrouble) {
    guard let generation = request?.generation else { return }
    request = nil
    feed(.requestFailed(trouble, for: generation))
  }

  /// Resolves the server of the latest grant.
  mutating func resolve(last: Int = 1) throws {
    guard let (grant, generation) = latestResolve else { return }
    feed(.resolved(try .sample(last), grant, for: generation))
  }

  var latestResolve: (GrantedTest, TestSelection.Generation)? {
    for case .resolve(let grant, let generation, _) in effects.reversed() { return (grant, generation) }
    return nil
  }

  /// Begins, requests a test, gets it and pings on it.
  mutating func startPinging(_ test: String = "T1", _ members: String = "") throws {
    feed(.began)
    feed(.pingsRead)
    _ = try grant(test, members)
    try resolve()
  }

  mutating func drainDelays() -> [SpeedTestDelay] { drive.drainDelays() }

  // MARK: Effects

  private mutating func perform(_ effect: DriveEffect) -> DriveInput? {
    if case .disk = effect {
      isKilled = isKilled || diskEffects == killedAt
      diskEffects += 1
    }
    guard !isKilled else { return nil }
    onEffect(effect)
    if case .disk(let effect) = effect {
      return (otherDisk?(effect) ?? (otherDisk == nil ? disk.perform(effect) : nil)).map { .disk($0) }
    }
    effects.append(effect)
    switch effect {
    case .requestTest(let wanted): request = wanted
    case .cancelRequest: request = nil
    case .beginPings(let start):
      if let pingTrouble { return .pingsRefused(reason: pingTrouble, start) }
      lastTarget += 1
      liveTargets.insert(lastTarget)
      return .pingsBegan(lastTarget, start)
    case .stopPings(let target): liveTargets.remove(target)
    default: break
    }
    return nil
  }

  /// Lines for the program's log, with their level.
  var lines: [String] {
    effects.compactMap { if case .log(let level, let line, _) = $0 { "\(level): \(line)" } else { nil } }
  }

  /// The events of the lines that have one.
  var operatorEvents: [OperatorEvent] {
    effects.compactMap { if case .log(_, _, let event) = $0 { event } else { nil } }
  }

  /// The last status.
  var status: DriveStatus? {
    for case .report(let status) in effects.reversed() { return status }
    return nil
  }

  func count(_ matches: (DriveEffect) -> Bool) -> Int { effects.count(where: matches) }

  var requests: [TestRequest] {
    effects.compactMap { if case .requestTest(let request) = $0 { request } else { nil } }
  }
}
