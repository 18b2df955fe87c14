import Foundation
import Pinging

/// How far the host's wall clock is ahead of CLOCK_BOOTTIME.
struct WallReading: Hashable, Sendable {
  /// Nanoseconds since 1970 minus nanoseconds on CLOCK_BOOTTIME at the same moment.
  let aheadNanoseconds: Int64

  /// The wall time of a moment on CLOCK_BOOTTIME, in nanoseconds since 1970, by the wall clock at this reading.
  func time(of moment: UInt64) -> Int64 { Int64(clamping: moment) + aheadNanoseconds }

  /// A reading made now. The quickest of three counts, because the thread can be interrupted between the two clocks.
  static var current: WallReading {
    let readings = (0..<3).map { _ in
      let before = Pinger.now
      var wall = timespec()
      clock_gettime(CLOCK_REALTIME, &wall)
      let width = Pinger.now - before
      let middle = Int64(before + width / 2)
      return (width: width, ahead: Int64(wall.tv_sec) * 1_000_000_000 + Int64(wall.tv_nsec) - middle)
    }
    return WallReading(aheadNanoseconds: readings.min { $0.width < $1.width }?.ahead ?? 0)
  }
}
