import Coverage
import Submission

/// The start of a drive on both of its clocks: CLOCK_BOOTTIME and the selected wall clock. A pure value.
struct DriveClock: Hashable, Sendable {
  /// The start in selected wall time, in whole milliseconds, the resolution of the drive log.
  private(set) var started: WallTime
  /// The start on CLOCK_BOOTTIME.
  let startedBoot: Duration
  private let startedInstant: ContinuousClock.Instant
  private(set) var reading: Timekeeper.Reading
  /// The last reading in the drive log.
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

  /// Whether any clock shows a possible time.
  var isTrusted: Bool { reading.selection.isTrusted }

  /// Follows the clock that is selected now.
  /// - Returns: The step of the drive's times, in whole milliseconds; `nil` for none.
  mutating func adjust(to reading: Timekeeper.Reading) -> Duration? {
    self.reading = reading
    guard reading.selection.isTrusted else { return nil }
    let step = reading.selection.wall(at: startedBoot) - started
    guard step >= Self.smallestStep || step <= .zero - Self.smallestStep else { return nil }
    let half: Duration = .microseconds(step < .zero ? -500 : 500)
    let milliseconds = (step + half).inMilliseconds
    started = started.adding(.milliseconds(milliseconds))
    return .milliseconds(milliseconds)
  }

  /// The reading that the drive log does not have yet; `nil` when it has the latest one.
  mutating func news() -> Timekeeper.Reading? {
    let isKnown =
      logged.map { logged in
        let lead = (reading.hostLead ?? .zero) - (logged.hostLead ?? .zero)
        return logged.selection.isSame(as: reading.selection) && (.seconds(-1)..<(.seconds(1))).contains(lead)
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

  /// The start of the wall-clock millisecond that contains `time`: the control server's times have this resolution.
  func wholeMillisecond(_ time: DriveTime) -> DriveTime {
    WallTime(microseconds: (started + time).milliseconds.saturatingMultiplied(by: 1000)).since(started)
  }
}
