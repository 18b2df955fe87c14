import Coverage
import Testing

@testable import Submission

/// The gate's numbers at their limits, including numbers from a damaged store.
struct GateLimitsTests {
  private func restored(step: Int = 1, deadline: Duration) -> CircuitBreaker {
    let memory = CircuitBreaker.Memory(
      state: .open, refusals: 0, step: step, deadline: deadline.inMicroseconds, remaining: deadline.inMicroseconds,
      bootID: "a")
    return CircuitBreaker(policy: .init(), memory: memory, at: .zero, bootID: "a")
  }

  @Test("when a random share is outside 0 to 1, then a wait after 429 is at an end of its range")
  func share() {
    var backoff = Backoff()
    backoff.refused(at: .zero, random: 5)
    #expect(backoff.remaining(at: .zero) == .seconds(121))
    backoff.refused(at: .zero, random: -5)
    #expect(backoff.remaining(at: .zero) == .seconds(1))
  }

  @Test("when no policy is given, then the first wait after trouble is at most 31 s, the longest at most 301 s")
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
    "when the stored count of failures is read, then it is clamped to the range that the program writes",
    arguments: [(0, 0), (7, 7), (-3, 0), (5000, 1000)])
  func failures(stored: Int, count: Int) {
    #expect(Backoff(base: .seconds(30), cap: .seconds(300), failures: stored, until: nil).failures == count)
    #expect(restored(step: stored, deadline: .seconds(60)).step == max(count, 1))
  }

  @Test("when the breaker opens again and again, then its wait stops at the longest one and does not overflow")
  func steps() {
    let policy = CircuitBreaker.Policy(threshold: 1, backoff: .seconds(3600), backoffMax: .seconds(7200))
    #expect([1, 2, 3, 1000].map(policy.wait) == [3600, 7200, 7200, 7200].map { .seconds($0) })
  }

  @Test(
    "when the stored wait is within the longest one with its jitter, then it continues; a longer one is cut to that")
  func longest() {
    #expect(restored(deadline: .seconds(3900)).remaining(at: .zero) == .seconds(3900))
    #expect(restored(deadline: .seconds(90_000)).remaining(at: .zero).inMilliseconds == 3_960_000)
  }

  @Test("when the server is unreachable or answers 429, then the verdict holds for every batch")
  func everyBatch() {
    let all: [Verdict] = [
      .tooManyRequests, .unreachable, .doubtful, .trouble, .forbidden, .rejected, .noStartedTest, .unknownClient,
    ]
    #expect(all.filter(\.bindsEveryBatch) == [.tooManyRequests, .unreachable])
    #expect(all.filter { !$0.isDefiniteNo } == [.doubtful, .noStartedTest])
  }

  @Test("when a random share is outside 0 to 1, then the wait is at an end of its range")
  func shares() {
    for (random, wait) in [(5.0, 31.0), (-5, 1)] {
      var backoff = Backoff()
      backoff.failed(at: .zero, random: random)
      #expect(backoff.remaining(at: .zero) == .seconds(wait))
    }
    var gate = ServerGate()
    #expect(gate.ask(.background, at: .zero, random: 5) == .spread(.seconds(60)))
    var other = ServerGate()
    guard case .leave = other.ask(.background, at: .zero, random: -5) else {
      Issue.record("a negative wait")
      return
    }
  }

  @Test("when failures continue without end, then their count stops at the store's limit")
  func countOfFailures() {
    var backoff = Backoff()
    for _ in 0..<1100 { backoff.failed(at: .zero, random: 1) }
    #expect(backoff.failures == 1000)
    #expect(backoff.remaining(at: .zero) == .seconds(301))
  }

  @Test("when a policy is below its minimum values, then it is raised to them; at the minimum, it is unchanged")
  func leastPolicy() {
    let least = CircuitBreaker.Policy(threshold: 1, backoff: .seconds(1), backoffMax: .seconds(1))
    #expect((least.threshold, least.backoff, least.backoffMax) == (1, .seconds(1), .seconds(1)))
    #expect(CircuitBreaker.Policy(threshold: -3, backoff: .zero, backoffMax: .zero) == least)
  }

  @Test("when the policy is the default one, then passes in trouble wait five minutes at most")
  func defaultGate() {
    var gate = ServerGate()
    for _ in 0..<9 { gate.troubled(by: .unreachable(""), at: .zero, random: 1) }
    #expect(gate.hold(.background, at: .zero) == .trouble(.seconds(301)))
  }

  @Test(
    "when jitter lengthens a wait, then by that share of a tenth of it, in whole milliseconds", arguments: [0, 0.5, 1])
  func jitter(share: Double) throws {
    var breaker = CircuitBreaker(policy: .init(threshold: 1))
    let begun = breaker.begin(at: .zero)
    breaker.end(try #require(begun), .tooManyRequests(retryAfter: nil), at: .zero, jitter: share)
    #expect(breaker.remaining(at: .zero) == .milliseconds(30_000 + Int(share * 3000)))
  }

  @Test("when an answer's status is 300, then its message is ignored, and no batch becomes suspect")
  func redirects() {
    let redirect = ServerFailure.refused(status: 300, message: "No started test found")
    #expect(Verdict(redirect) == .trouble)
    #expect(Verdict(.refused(status: 299, message: "No started test found")) == .noStartedTest)
    var rule = BatchRule()
    #expect(
      rule.consequence(of: .notTheServer(status: 300, found: "x"), at: .coverageResult, isSuspect: true) == .setAside)
    #expect(
      rule.consequence(of: .notTheServer(status: 299, found: "x"), at: .coverageResult, isSuspect: true) == .refuse)
  }

  @Test(
    "when the store fails after a pass without a set clock, then its back-off replaces the short wait for the clock")
  func storeAfterClock() {
    var schedule = PassSchedule(every: .seconds(900), policy: ServerGate.Policy())
    schedule.passEnded(PassReport(hold: .clock))
    schedule.storeFailed(at: .zero, random: 1)
    #expect(schedule.wait(gate: .zero, at: .zero) == .seconds(31))
    #expect(schedule.wait(gate: .zero, at: .seconds(31)) == .seconds(900))
  }
}
