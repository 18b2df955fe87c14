import Coverage
import Foundation
import Pinging

/// The one place where a drive reads clocks: wall time once at its start, and from then on the boot-time clock.
struct DriveClock: Sendable {
  /// Wall time of the start, in whole milliseconds, as the drive log can say it.
  let started: WallTime
  private let startedBootNanoseconds: UInt64
  private let startedInstant: ContinuousClock.Instant

  init() {
    let wall = WallTime.current
    let sinceMillisecond = wall.microseconds - wall.milliseconds * 1000
    started = WallTime(microseconds: wall.microseconds - sinceMillisecond)
    startedBootNanoseconds = Pinger.now - UInt64(sinceMillisecond * 1000)
    startedInstant = ContinuousClock.now - .microseconds(sinceMillisecond)
  }

  var now: DriveTime { time(ofSlot: Pinger.now) }

  /// The drive time of a ping that was scheduled at `nanoseconds` on CLOCK_BOOTTIME.
  func time(ofSlot nanoseconds: UInt64) -> DriveTime {
    DriveTime(microseconds: (Int64(nanoseconds) - Int64(startedBootNanoseconds)) / 1000)
  }

  func time(of instant: ContinuousClock.Instant) -> DriveTime { DriveTime(instant - startedInstant) }

  /// The moment on the drive's wall clock, cut to the whole millisecond in which the control server takes times.
  func wholeMillisecond(_ time: DriveTime) -> DriveTime {
    WallTime(microseconds: (started + time).milliseconds * 1000).since(started)
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
