import Coverage
import Foundation
import TestSupport

@testable import SpeedTest

/// Clocks of a loop that stand until the test turns them; a sleep ends when they have been turned far enough.
final class TurnedLoopClock: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var boot = Duration.seconds(1000)

  func turn(by duration: Duration) { lock.withLock { boot += duration } }

  var moment: LoopMoment {
    let boot = lock.withLock { self.boot }
    return LoopMoment(boot: boot, awake: boot, wall: .sampleStart.adding(boot))
  }

  /// The ticks of the loop come every 20 ms; a longer sleep ends when the clocks have been turned.
  var host: LoopHost {
    LoopHost(bootID: "boot") { duration in
      guard duration > .seconds(1) else { return try await Task.sleep(for: .milliseconds(20)) }
      let end = self.moment.boot + duration
      while self.moment.boot < end { try await Task.sleep(for: .milliseconds(20)) }
    } moment: {
      self.moment
    }
  }
}

/// The news of a loop.
extension Collected<LoopNews> {
  var ended: [(number: Int, end: TestEnd)] {
    all.compactMap { if case .testEnded(let number, let end) = $0 { (number, end) } else { nil } }
  }

  var notices: [LoopNotice] { all.compactMap { if case .notice(let notice) = $0 { notice } else { nil } } }
}
