import Synchronization
import Testing

@testable import MessageBus

/// The thread of a client of a bus.
struct BusThreadTests {
  /// Counts the runs of a body.
  private final class Runs: Sendable {
    let count = Mutex(0)

    /// One more.
    func add() { count.withLock { $0 += 1 } }
  }

  @Test("when the body ends by itself, then the call returns, and the pipe was not woken")
  func byItself() async {
    let (wake, runs) = (WakePipe(), Runs())
    await BusThread.run(until: wake) { runs.add() }
    #expect(runs.count.withLock { $0 } == 1)
    #expect(!wake.isAwake)
  }

  @Test("when the task is cancelled, before or during the body, then its wait ends, and the call returns after it")
  func cancelled() async {
    for isBefore in [true, false] {
      let (wake, runs) = (WakePipe(), Runs())
      let running = Task {
        if isBefore { withUnsafeCurrentTask { $0?.cancel() } }
        await BusThread.run(until: wake) {
          wake.wait(at: nil, until: nil)
          runs.add()
        }
      }
      running.cancel()
      await running.value
      #expect(runs.count.withLock { $0 } == 1 && wake.isAwake)
    }
  }
}
