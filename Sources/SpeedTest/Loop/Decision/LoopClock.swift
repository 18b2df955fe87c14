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
