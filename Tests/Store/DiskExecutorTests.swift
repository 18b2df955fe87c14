import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Store

struct DiskExecutorTests {
  /// Blocks its thread as a slow disk does.
  private actor Blocked {
    private let disk = DiskExecutor("test")
    nonisolated var unownedExecutor: UnownedSerialExecutor { disk.asUnownedSerialExecutor() }
    private(set) var calls = 0

    func wait(for gate: DispatchSemaphore, _ entered: AsyncStream<Void>.Continuation) {
      disk.checkIsolated()
      entered.yield()
      block(on: gate)
      calls += 1
    }

    private nonisolated func block(on gate: DispatchSemaphore) { gate.wait() }
  }

  @Test(
    "when more actors wait for a disk than there are task threads, then other tasks still run", .timeLimit(.minutes(5)))
  func otherTasks() async {
    let gate = DispatchSemaphore(value: 0)
    let (entries, entered) = AsyncStream<Void>.makeStream()
    let actors = (0..<(4 * ProcessInfo.processInfo.activeProcessorCount)).map { _ in Blocked() }
    await withTaskGroup { group in
      for actor in actors { group.addTask { await actor.wait(for: gate, entered) } }
      var blocked = 0
      for await _ in entries {
        blocked += 1
        if blocked == actors.count { break }
      }
      // All of them block their threads now; this task still runs, and so does another one.
      #expect(await Task.detached { 7 }.value == 7)
      for _ in actors { gate.signal() }
    }
    for actor in actors { #expect(await actor.calls == 1) }
  }

  @Test("when calls come one after another, then they run in that order")
  func order() async {
    let (disk, lines) = (DiskExecutor("test"), Collected<Int>())
    let signals = (0..<100).map { line in disk.signal { lines.append(line) } }
    for signal in signals { signal() }
    await disk.execute {}
    #expect(lines.all == Array(0..<100))
  }

  @Test("when a signal comes twice before its work begins, then it runs once, and again at the next one")
  func signals() async {
    let (disk, calls, gate) = (DiskExecutor("test"), Counter(), DispatchSemaphore(value: 0))
    let (block, count) = (disk.signal { gate.wait() }, disk.signal { calls.increment() })
    block()
    count()
    count()
    gate.signal()
    await disk.execute {}
    #expect(calls.count == 1)
    count()
    await disk.execute {}
    #expect(calls.count == 2)
  }

  @Test("when work throws or has a value, then its caller gets the error or the value, after all earlier work")
  func execution() async throws {
    struct Broken: Error {}
    let (disk, finished, gate) = (DiskExecutor("test"), Counter(), DispatchSemaphore(value: 0))
    let begin = disk.signal {
      gate.wait()
      finished.increment()
    }
    begin()
    async let count = disk.execute { finished.count }
    gate.signal()
    #expect(await count == 1)
    await #expect(throws: Broken.self) { try await disk.execute { throw Broken() } }
  }
}
