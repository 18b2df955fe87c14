import Coverage

/// The time since a loop's start, in microseconds of CLOCK_BOOTTIME. It goes on while the host sleeps, and never steps back.
struct LoopClock: Hashable, Sendable {
  /// CLOCK_BOOTTIME of the loop's start, in microseconds; negative after a reboot.
  private let origin: Int64
  /// The time since the loop's start.
  private(set) var now: Int64

  /// A loop that starts at `moment`.
  init(at moment: LoopMoment) {
    origin = moment.boot.inMicroseconds
    now = 0
  }

  /// A loop that was written at `stamp`.
  init(continuing stamp: LoopStamp, at moment: LoopMoment, bootID: String) {
    now = stamp.loopTime(at: moment, bootID: bootID)
    origin = moment.boot.inMicroseconds.saturatingSubtracting(now)
  }

  mutating func advance(to moment: LoopMoment) {
    now = max(now, moment.boot.inMicroseconds.saturatingSubtracting(origin))
  }

  /// CLOCK_BOOTTIME at a time of the loop.
  func boot(at time: Int64) -> Duration { .microseconds(origin.saturatingAdding(time)) }
}

/// The host's clocks at one moment. The shell reads `boot`, then `awake`: an interruption between the two then does not look like a
/// suspend.
public struct LoopMoment: Hashable, Sendable {
  /// CLOCK_BOOTTIME: it counts sleep.
  public let boot: Duration
  /// CLOCK_MONOTONIC: it stops while the host is suspended.
  public let awake: Duration
  /// The wall time of the selected clock (docs/clock.md); `nil` while no clock is trusted.
  public let wall: WallTime?

  public init(boot: Duration, awake: Duration, wall: WallTime?) {
    (self.boot, self.awake, self.wall) = (boot, awake, wall)
  }
}

/// When a loop's state was written, on three clocks.
struct LoopStamp: Hashable, Sendable, Codable {
  var bootID: String
  /// CLOCK_BOOTTIME in microseconds.
  var boot: Int64
  /// Microseconds since the loop's start.
  var loop: Int64
  /// The trusted wall time, if there was one.
  var wall: WallTime?

  /// - Returns: The time since the loop's start, in microseconds. In another boot the wall clock counts, if it was trusted both times;
  ///   else at least the time since the boot has passed.
  func loopTime(at moment: LoopMoment, bootID: String) -> Int64 {
    let now = moment.boot.inMicroseconds
    if bootID == self.bootID, now >= boot { return loop.saturatingAdding(now.saturatingSubtracting(boot)) }
    var passed = max(0, now)
    if let wall, let present = moment.wall, WallTime.plausible.contains(present) {
      passed = max(passed, (present - wall).inMicroseconds)
    }
    return loop.saturatingAdding(passed)
  }
}

/// The latest accurate position. A pure value; times are loop times in microseconds.
struct LoopPosition: Hashable, Sendable {
  /// The worst accuracy in metres; inclusive.
  static let accuracyLimit = 20.0
  /// A position that is older is not the device's place any more.
  static let lifetime = Duration.seconds(10)

  private var coordinate: Coordinate?
  private var at: Int64 = 0

  /// An inaccurate fix changes nothing; a lost one ends the position.
  mutating func apply(_ fix: Fix, at now: Int64) {
    guard let place = fix.coordinate else { return forget() }
    guard let accuracy = fix.accuracy, accuracy <= Self.accuracyLimit else { return }
    (coordinate, at) = (place, now)
  }

  /// After a suspend, the device can be anywhere.
  mutating func forget() { (coordinate, at) = (nil, 0) }

  /// The position, unless it is too old.
  func current(at now: Int64) -> Coordinate? {
    now.saturatingSubtracting(at) <= Self.lifetime.inMicroseconds ? coordinate : nil
  }
}
