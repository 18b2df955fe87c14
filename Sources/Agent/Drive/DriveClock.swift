import Coverage
import Foundation
import Pinging
import Submission

/// The one place where a drive reads clocks: the boot-time clock, and which wall time its start has by the clock that rules.
struct DriveClock: Sendable {
  /// Wall time of the start by the clock that rules, in whole milliseconds, as the drive log can say it.
  private(set) var started: WallTime
  /// The same moment on CLOCK_BOOTTIME.
  let startedBoot: Duration
  private let startedInstant: ContinuousClock.Instant
  private let timekeeper: Timekeeper
  private(set) var reading: Timekeeper.Reading
  /// What the drive log says of it.
  private var logged: Timekeeper.Reading?

  private static let smallestStep: Duration = .seconds(1)

  init(_ timekeeper: Timekeeper) {
    self.timekeeper = timekeeper
    reading = timekeeper.read()
    let now = reading.wall
    let sinceMillisecond = now.microseconds.saturatingSubtracting(now.milliseconds.saturatingMultiplied(by: 1000))
    started = WallTime(microseconds: now.microseconds - sinceMillisecond)
    startedBoot = reading.boot - .microseconds(sinceMillisecond)
    startedInstant = ContinuousClock.now - (.nanoseconds(Int64(clamping: Pinger.now)) - startedBoot)
  }

  var now: DriveTime { time(ofSlot: Pinger.now) }

  /// Whether any clock can be right.
  var isTrusted: Bool { reading.ruling.isTrusted }

  /// Goes by the clock that rules now.
  /// - Returns: By how much that moves the times of the drive, in whole milliseconds; `nil`: not at all.
  mutating func adjust() -> Duration? {
    timekeeper.settle()
    reading = timekeeper.read()
    guard reading.ruling.isTrusted else { return nil }
    let step = reading.ruling.wall(at: startedBoot) - started
    guard step >= Self.smallestStep || step <= .zero - Self.smallestStep else { return nil }
    let half: Duration = .microseconds(step < .zero ? -500 : 500)
    let milliseconds = (step + half).inMilliseconds
    started = started.adding(.milliseconds(milliseconds))
    return .milliseconds(milliseconds)
  }

  /// What the drive log is to say of the clocks; `nil` when it has said so.
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

  /// The drive time of a ping that was scheduled at `nanoseconds` on CLOCK_BOOTTIME.
  func time(ofSlot nanoseconds: UInt64) -> DriveTime {
    DriveTime(.nanoseconds(Int64(clamping: nanoseconds)) - startedBoot)
  }

  func time(of instant: ContinuousClock.Instant) -> DriveTime { DriveTime(instant - startedInstant) }

  /// The moment on the drive's wall clock, cut to the whole millisecond in which the control server takes times.
  func wholeMillisecond(_ time: DriveTime) -> DriveTime {
    WallTime(microseconds: (started + time).milliseconds.saturatingMultiplied(by: 1000)).since(started)
  }
}

extension WallTime {
  /// Now, by the host's wall clock.
  static var current: WallTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
