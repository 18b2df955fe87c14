import Coverage
import Foundation
import Pinging
import Testing

@testable import Agent

/// A drive's clock on a host whose clock is set.
struct DriveClockTests {
  /// A wall clock that the test sets, and that can take its time.
  private final class Wall: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var ahead: Int64 = 0
    private nonisolated(unsafe) var delay: UInt32 = 0

    func set(ahead: Int64, delay: UInt32 = 0) { lock.withLock { (self.ahead, self.delay) = (ahead, delay) } }

    var now: WallTime {
      lock.withLock {
        usleep(delay)
        return WallTime(microseconds: WallTime.earliestTrusted.microseconds + Int64(Pinger.now / 1000) + ahead)
      }
    }
  }

  @Test("when the clock is set, then the step is told to the nearest millisecond, once")
  func step() {
    let wall = Wall()
    var clock = DriveClock { wall.now }
    #expect(clock.adjust() == nil)
    let started = clock.started
    wall.set(ahead: 7_199_999_800)
    #expect(clock.adjust() == .seconds(7200))
    #expect(clock.started == started + .seconds(7200))
    #expect(clock.adjust() == nil)
    wall.set(ahead: -200)
    #expect(clock.adjust() == .seconds(-7200))
  }

  @Test("when the host sleeps between reading one clock and the other, then nothing was set")
  func pausedInReading() {
    let wall = Wall()
    var clock = DriveClock { wall.now }
    wall.set(ahead: 7_200_000_000, delay: 150_000)
    #expect(clock.adjust() == nil)
    wall.set(ahead: 7_200_000_000)
    #expect(clock.adjust() == .seconds(7200))
  }
}
