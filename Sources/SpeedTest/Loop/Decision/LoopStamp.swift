import Coverage

/// When a loop's state was written, on three clocks.
struct LoopStamp: Hashable, Sendable, Codable {
  /// The kernel's random id of the boot.
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
