import Coverage
import Testing

@testable import Submission

/// The gate's numbers at their limits, also those that come from a damaged store.
struct GateLimitsTests {
  private func restored(step: Int = 1, deadline: Duration) -> CircuitBreaker {
    let memory = CircuitBreaker.Memory(
      state: .open, refusals: 0, step: step, deadline: deadline.inMicroseconds, remaining: deadline.inMicroseconds,
      bootID: "a")
    return CircuitBreaker(policy: .init(), memory: memory, at: .zero, bootID: "a")
  }

  @Test("when a random share is above one, then a wait after 429 is the longest of its range")
  func share() {
    var backoff = Backoff()
    backoff.refused(at: .zero, random: 5)
    #expect(backoff.remaining(at: .zero) == .seconds(121))
    backoff.refused(at: .zero, random: -5)
    #expect(backoff.remaining(at: .zero) == .seconds(1))
  }

  @Test("when nothing else is said, then the first wait after trouble is below 31 s, the longest below 301 s")
  func defaults() {
    var backoff = Backoff()
    let waits = (0..<6).map { _ in
      backoff.failed(at: .zero, random: 1)
      return backoff.remaining(at: .zero)
    }
    #expect(waits.first == .seconds(31))
    #expect(waits.last == .seconds(301))
  }

  @Test(
    "when the store's count of failures is read, then it is one that the program can have written",
    arguments: [(0, 0), (7, 7), (-3, 0), (5000, 1000)])
  func failures(stored: Int, count: Int) {
    #expect(Backoff(base: .seconds(30), cap: .seconds(300), failures: stored, until: nil).failures == count)
    #expect(restored(step: stored, deadline: .seconds(60)).step == max(count, 1))
  }

  @Test("when the breaker opens without end, then its wait is the longest, not a number that does not fit")
  func steps() {
    let policy = CircuitBreaker.Policy(threshold: 1, backoff: .seconds(3600), backoffMax: .seconds(7200))
    #expect([1, 2, 3, 1000].map(policy.wait) == [3600, 7200, 7200, 7200].map { .seconds($0) })
  }

  @Test("when the store holds the longest wait with all its jitter, then it goes on; a longer one is cut to it")
  func longest() {
    #expect(restored(deadline: .seconds(3900)).remaining(at: .zero) == .seconds(3900))
    #expect(restored(deadline: .seconds(90_000)).remaining(at: .zero).inMilliseconds == 3_960_000)
  }

  @Test("when the device has no way to the server, or meets 429, then no other batch can succeed now")
  func everyBatch() {
    let all: [Verdict] = [
      .tooManyRequests, .unreachable, .doubtful, .trouble, .forbidden, .rejected, .noStartedTest, .unknownClient,
    ]
    #expect(all.filter(\.bindsEveryBatch) == [.tooManyRequests, .unreachable])
    #expect(all.filter { !$0.isDefiniteNo } == [.doubtful, .noStartedTest])
  }
}
