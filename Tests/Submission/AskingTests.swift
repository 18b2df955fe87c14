import ControlServer
import DriveStore
import Foundation
import TestSupport
import Testing

@testable import Submission

/// Requests beside the passes, and the breaker that they share.
@Suite(.serialized)
struct AskingTests {
  /// What was written, and whether the first write may end.
  private actor Paper {
    private(set) var words: [String] = []
    private var waiting: CheckedContinuation<Void, Never>?
    private var isOpen = false

    func write(_ word: String) { words.append(word) }
    func wait() async { if !isOpen { await withCheckedContinuation { waiting = $0 } } }
    func open() {
      isOpen = true
      waiting?.resume()
    }
  }

  @Test("when a write is slow, or fails, then those that were asked for later come after it")
  func order() async throws {
    let paper = Paper()
    var writes = OrderedWrites()
    let first = writes.begin {
      await paper.wait()
      await paper.write("first")
      throw CancellationError()
    }
    let others = ["second", "third"].map { word in writes.begin { await paper.write(word) } }
    // Time for one that does not wait.
    for _ in 0..<1000 { await Task.yield() }
    #expect(await paper.words.isEmpty)
    await paper.open()
    for other in others { try await other.value }
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(await paper.words == ["first", "second", "third"])
  }

  @Test("when many requests end at the same time, then the breaker on disk is the one in memory")
  func many() async throws {
    let rig = try await SendingRig()
    let sender = try rig.sender { $0.breaker.threshold = 1000 }
    for round in 0..<5 {
      await withTaskGroup { group in
        for number in 0..<8 {
          group.addTask {
            // That some end with 429 is what is wanted.
            _ = try? await sender.ask {
              if (number + round) % 3 != 0 { throw ServerFailure.tooManyRequests(retryAfter: nil) }
            }
          }
        }
      }
      let stored = try CircuitBreaker.stored(
        in: StoreReader(rig.store), server: rig.client.url, policy: .init(threshold: 1000), clock: rig.time.clock)
      #expect(await sender.status.breaker.refusals == stored.refusals)
    }
    try await rig.finish()
  }
}
