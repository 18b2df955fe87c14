import Coverage
import Foundation
import Pinging

/// The one place where a drive reads clocks: wall time once at its start, and from then on the boot-time clock. Wall time is
/// read again only to see whether the host's clock was set meanwhile.
struct DriveClock: Sendable {
  /// Wall time of the start by what the host's clock says now, in whole milliseconds, as the drive log can say it.
  private(set) var started: WallTime
  /// The same moment on CLOCK_BOOTTIME.
  let startedBoot: Duration
  private let startedInstant: ContinuousClock.Instant
  private let wall: @Sendable () -> WallTime

  /// A clock that differs from the boot-time clock by this much more or less than before was set; smaller differences come
  /// from reading one after the other.
  private static let smallestStep: Int64 = 1_000_000
  private static let longestReading = Duration.milliseconds(100)

  /// - Parameter wall: The host's wall clock.
  init(wall: @escaping @Sendable () -> WallTime = { .current }) {
    self.wall = wall
    let now = wall()
    let sinceMillisecond = now.microseconds - now.milliseconds * 1000
    started = WallTime(microseconds: now.microseconds - sinceMillisecond)
    startedBoot = .nanoseconds(Int64(Pinger.now)) - .microseconds(sinceMillisecond)
    startedInstant = ContinuousClock.now - .microseconds(sinceMillisecond)
  }

  var now: DriveTime { time(ofSlot: Pinger.now) }

  /// Whether the wall clock can be right.
  var isTrusted: Bool { started >= .earliestTrusted }

  /// Takes over what the host's clock was set to, unless that cannot be right.
  /// - Returns: By how much it was set, in whole milliseconds; `nil`: not at all.
  mutating func adjust() -> Duration? {
    let before = self.now
    let now = wall()
    let after = self.now
    // What came between the two clocks, such as a suspend, is no step of either.
    guard after - before < Self.longestReading else { return nil }
    let step = now.microseconds - (started + after).microseconds
    guard abs(step) >= Self.smallestStep, now >= .earliestTrusted else { return nil }
    let milliseconds = (step + (step < 0 ? -500 : 500)) / 1000
    started = WallTime(microseconds: started.microseconds + milliseconds * 1000)
    return .milliseconds(milliseconds)
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
