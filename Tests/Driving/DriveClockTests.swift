import Coverage
import Foundation
import Logging
import Pinging
import Store
import Submission
import TestSupport
import Testing

@testable import Driving

/// A drive's clock on a host whose clock is set.
struct DriveClockTests {
  /// A wall clock that the test sets, and that can be slow to read.
  private final class Wall: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var ahead: Int64 = 0
    /// The time that a reading takes, in microseconds.
    private nonisolated(unsafe) var delay: UInt64 = 0

    func set(ahead: Int64, delay: UInt64 = 0) { lock.withLock { (self.ahead, self.delay) = (ahead, delay) } }

    var now: WallTime {
      lock.withLock {
        let end = Pinger.now + delay * 1000
        while Pinger.now < end { sched_yield() }
        return WallTime(microseconds: WallTime.earliestTrusted.microseconds + Int64(Pinger.now / 1000) + ahead)
      }
    }
  }

  private let folder: TemporaryFolder
  private let store: DriveStore
  private let wall = Wall()

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
  }

  /// Runs `body` with the clocks of a new process of the same boot.
  private func withTimekeeper(_ body: (Timekeeper) async throws -> Void) async throws {
    let server = try ControlServerClient(
      url: "http://127.0.0.1:9", caFile: nil, requestTimeout: .seconds(1), device: .sample)
    let clock = SenderClock(
      wall: { [wall] in wall.now }, boot: { .nanoseconds(Int64(Pinger.now)) }, bootID: "this boot")
    try await body(try Timekeeper(store: store, server: server, clock: clock, logger: Logger(label: "test")))
  }

  private func settled(_ keeper: Timekeeper) -> Timekeeper.Reading {
    keeper.publishHere()
    return keeper.read()
  }

  private func noteReceiver(_ keeper: Timekeeper, off: Duration = .zero) {
    for second in -20...0 {
      let now = ContinuousClock.now + .seconds(second)
      let time = WallTime.earliestTrusted.adding(.nanoseconds(Int64(Pinger.now)) + .seconds(second) + off)
      keeper.note(gnss: time, receiver: "/dev/gps0", arrival: now)
    }
  }

  @Test("when the clock is set, then the times move by the step to the nearest millisecond, once")
  func step() async throws {
    try await withTimekeeper { keeper in
      var clock = DriveClock(keeper.read(), now: (Pinger.now, .now))
      #expect(clock.adjust(to: settled(keeper)) == nil)
      let started = clock.started
      wall.set(ahead: 7_199_999_800)
      #expect(clock.adjust(to: settled(keeper)) == .seconds(7200))
      #expect(clock.started == started + .seconds(7200))
      #expect(clock.adjust(to: settled(keeper)) == nil)
      wall.set(ahead: -200)
      #expect(clock.adjust(to: settled(keeper)) == .seconds(-7200))
    }
  }

  @Test("when the host sleeps between reading one clock and the other, then that is no step")
  func pausedInReading() async throws {
    try await withTimekeeper { keeper in
      var clock = DriveClock(keeper.read(), now: (Pinger.now, .now))
      wall.set(ahead: 7_200_000_000, delay: 150_000)
      #expect(clock.adjust(to: settled(keeper)) == nil)
      wall.set(ahead: 7_200_000_000)
      #expect(clock.adjust(to: settled(keeper)) == .seconds(7200))
    }
  }

  @Test("when the receiver contradicts a step, then the times stay, in this process and in the next one of this boot")
  func contradicted() async throws {
    try await withTimekeeper { keeper in
      var clock = DriveClock(keeper.read(), now: (Pinger.now, .now))
      noteReceiver(keeper)
      _ = clock.adjust(to: settled(keeper))
      wall.set(ahead: 864_000_000_000)
      #expect(clock.adjust(to: settled(keeper)) == nil)
      #expect(clock.reading.selection.contradicting == [.host])
      #expect(abs(clock.reading.hostLead?.inSeconds ?? 0) > 863_999)
    }
    try await withTimekeeper { keeper in
      let clock = DriveClock(keeper.read(), now: (Pinger.now, .now))
      #expect(clock.reading.selection.contradicting == [.host])
      let difference = clock.started - WallTime.earliestTrusted.adding(.nanoseconds(Int64(Pinger.now)))
      #expect(abs(difference.inSeconds) < 5)
    }
  }

  @Test("when the clocks change, then the drive log notes each change once, and each step of the host's clock")
  func news() async throws {
    try await withTimekeeper { keeper in
      var clock = DriveClock(keeper.read(), now: (Pinger.now, .now))
      #expect(clock.news()?.selection.reason == .alone)
      #expect(clock.news() == nil)
      noteReceiver(keeper)
      _ = clock.adjust(to: settled(keeper))
      #expect(clock.news()?.selection.agreeing == [.gnss, .host])
      for step in [3_600_000_000, 7_200_000_000] as [Int64] {
        wall.set(ahead: step)
        _ = clock.adjust(to: settled(keeper))
        let lead = clock.news()?.hostLead ?? .zero
        #expect(abs(lead.inSeconds - Double(step) / 1e6) < 2)
        _ = clock.adjust(to: settled(keeper))
        #expect(clock.news() == nil)
      }
    }
  }
}
