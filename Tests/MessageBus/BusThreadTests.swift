import Foundation
import Synchronization
import Testing

@testable import MessageBus

/// The thread of a client of a bus.
struct BusThreadTests {
  /// What the thread saw.
  private final class Seen: Sendable {
    let names = Mutex<[String]>([])

    /// Notes the kernel's name of the calling thread.
    func note() {
      let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
      names.withLock { $0.append(name ?? "unknown") }
    }
  }

  @Test("when the body ends by itself, then the call returns; the thread had its name, and nobody was woken")
  func byItself() async {
    let (wake, seen) = (WakePipe(), Seen())
    await BusThread.run("bus test", until: wake) { seen.note() }
    #expect(seen.names.withLock { $0 } == ["bus test\n"])
    #expect(!wake.isAwake)
  }

  @Test("when the task is cancelled, before or during the body, then its wait ends, and the call returns after it")
  func cancelled() async {
    for isBefore in [true, false] {
      let (wake, seen) = (WakePipe(), Seen())
      let running = Task {
        if isBefore { withUnsafeCurrentTask { $0?.cancel() } }
        await BusThread.run("bus test", until: wake) {
          wake.wait(at: nil, until: nil)
          seen.note()
        }
      }
      running.cancel()
      await running.value
      #expect(seen.names.withLock { $0.count } == 1 && wake.isAwake)
    }
  }
}
