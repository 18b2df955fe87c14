import TestSupport
import Testing

@testable import SystemServices

/// The thread of a client of a bus.
struct BusThreadTests {
  @Test("when the body ends by itself, then the call returns, and the pipe is not awake")
  func byItself() async {
    let (wake, runs) = (WakePipe(), Counter())
    await BusThread.run(until: wake) { runs.increment() }
    #expect(runs.count == 1)
    #expect(!wake.isAwake)
  }

  @Test(
    "when the task is cancelled, before or during the body, then the body's wait ends, and the call returns after it")
  func cancelled() async {
    for isBefore in [true, false] {
      let (wake, runs) = (WakePipe(), Counter())
      let running = Task {
        if isBefore { withUnsafeCurrentTask { $0?.cancel() } }
        await BusThread.run(until: wake) {
          wake.wait(at: nil, until: nil)
          runs.increment()
        }
      }
      running.cancel()
      await running.value
      #expect(runs.count == 1 && wake.isAwake)
    }
  }
}
