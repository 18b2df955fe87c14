import Coverage
import Submission

/// The start of a drive on each of its clocks: the boot-time clock, and the wall time by the clock that rules. A pure value.
struct DriveClock: Hashable, Sendable {
  /// Wall time of the start by the clock that rules, in whole milliseconds, as the drive log can say it.
  private(set) var started: WallTime
  /// The same moment on CLOCK_BOOTTIME.
  let startedBoot: Duration
  private let startedInstant: ContinuousClock.Instant
  private(set) var reading: Timekeeper.Reading
  /// The last reading that the drive log has.
  private var logged: Timekeeper.Reading?

  private static let smallestStep: Duration = .seconds(1)

  /// - Parameters:
  ///   - reading: Made now, at the start.
  ///   - now: The same moment on CLOCK_BOOTTIME, in nanoseconds, and as an instant.
  init(_ reading: Timekeeper.Reading, now: (boot: UInt64, instant: ContinuousClock.Instant)) {
    self.reading = reading
    let wall = reading.wall
    let sinceMillisecond = wall.microseconds.saturatingSubtracting(wall.milliseconds.saturatingMultiplied(by: 1000))
    started = WallTime(microseconds: wall.microseconds - sinceMillisecond)
    startedBoot = reading.boot - .microseconds(sinceMillisecond)
    startedInstant = now.instant - (.nanoseconds(Int64(clamping: now.boot)) - startedBoot)
  }

  /// Whether any clock can be right.
  var isTrusted: Bool { reading.ruling.isTrusted }

  /// Follows the clock that rules now.
  /// - Returns: By how much that moves the times of the drive, in whole milliseconds; `nil`: not at all.
  mutating func adjust(to reading: Timekeeper.Reading) -> Duration? {
    self.reading = reading
    guard reading.ruling.isTrusted else { return nil }
    let step = reading.ruling.wall(at: startedBoot) - started
    guard step >= Self.smallestStep || step <= .zero - Self.smallestStep else { return nil }
    let half: Duration = .microseconds(step < .zero ? -500 : 500)
    let milliseconds = (step + half).inMilliseconds
    started = started.adding(.milliseconds(milliseconds))
    return .milliseconds(milliseconds)
  }

  /// The reading that the drive log lacks; `nil` when it has the last one.
  mutating func news() -> Timekeeper.Reading? {
    let isKnown =
      logged.map { logged in
        let lead = (reading.hostLead ?? .zero) - (logged.hostLead ?? .zero)
        return logged.ruling.isSame(as: reading.ruling) && (.seconds(-1)..<(.seconds(1))).contains(lead)
      } ?? false
    if isKnown { return nil }
    logged = reading
    return reading
  }

  /// The drive time of `nanoseconds` on CLOCK_BOOTTIME.
  func time(ofSlot nanoseconds: UInt64) -> DriveTime {
    DriveTime(.nanoseconds(Int64(clamping: nanoseconds)) - startedBoot)
  }

  func time(of instant: ContinuousClock.Instant) -> DriveTime { DriveTime(instant - startedInstant) }

  /// The moment on the drive's wall clock, cut to the whole millisecond in which the control server takes times.
  func wholeMillisecond(_ time: DriveTime) -> DriveTime {
    WallTime(microseconds: (started + time).milliseconds.saturatingMultiplied(by: 1000)).since(started)
  }
}
