import Coverage
import Foundation
import TestSupport
import Testing

@testable import Submission

struct CircuitBreakerTests {
  private func begin(
    _ breaker: inout CircuitBreaker, at now: Duration, force: Bool = false
  ) throws -> CircuitBreaker.Call {
    let call = breaker.begin(at: now, force: force)
    return try #require(call)
  }

  /// Gives `breaker` this many 429 in a row.
  private func refuse(_ breaker: inout CircuitBreaker, times: Int, at now: Duration, retryAfter: Duration? = nil) throws
  {
    for _ in 0..<times {
      let call = try begin(&breaker, at: now)
      breaker.end(call, .tooManyRequests(retryAfter: retryAfter), at: now)
    }
  }

  @Test("when 429 comes three times in a row, then the waits are 30, 60, 120, 240, 300 and 300 s, each with one trial")
  func waits() throws {
    var breaker = CircuitBreaker()
    var now = Duration.seconds(1000)
    try refuse(&breaker, times: 2, at: now)
    #expect(breaker.state == .closed)
    try refuse(&breaker, times: 1, at: now)
    for seconds in [30, 60, 120, 240, 300, 300] {
      #expect(breaker.state == .open)
      #expect(breaker.remaining(at: now) == .seconds(seconds))
      let early = breaker.begin(at: now + .seconds(seconds) - .milliseconds(1))
      #expect(early == nil)
      now += .seconds(seconds)
      let trial = try begin(&breaker, at: now)
      #expect(breaker.state == .halfOpen)
      let second = breaker.begin(at: now)
      #expect(second == nil, "one trial")
      breaker.end(trial, .tooManyRequests(retryAfter: nil), at: now)
    }
    now += .seconds(300)
    let trial = try begin(&breaker, at: now)
    breaker.end(trial, .success, at: now)
    #expect(breaker.state == .closed)
    try refuse(&breaker, times: 3, at: now)
    #expect(breaker.remaining(at: now) == .seconds(30), "a success resets the waits")
  }

  @Test("when a request succeeds between 429 answers, then their count starts again from zero")
  func row() throws {
    var breaker = CircuitBreaker()
    for _ in 0..<10 {
      try refuse(&breaker, times: 2, at: .zero)
      let call = try begin(&breaker, at: .zero)
      breaker.end(call, .success, at: .zero)
    }
    #expect(breaker.state == .closed)
  }

  @Test(
    "when Retry-After exceeds the back-off, then the wait grows to it, up to an hour; a shorter one changes nothing")
  func retryAfter() throws {
    for (asked, wait) in [(0, 30), (29, 30), (31, 31), (3600, 3600), (1_000_000, 3600)] {
      var breaker = CircuitBreaker()
      try refuse(&breaker, times: 3, at: .zero, retryAfter: .seconds(asked))
      #expect(breaker.remaining(at: .zero) == .seconds(wait))
    }
  }

  @Test("when jitter applies, then it only lengthens the wait", arguments: [-1, 0, 0.5, 1, 7])
  func jitter(jitter: Double) throws {
    var breaker = CircuitBreaker()
    try refuse(&breaker, times: 2, at: .zero)
    let call = try begin(&breaker, at: .zero)
    breaker.end(call, .tooManyRequests(retryAfter: nil), at: .zero, jitter: jitter)
    #expect((.seconds(30) ... .seconds(33)).contains(breaker.remaining(at: .zero)))
  }

  @Test("when a call that began before the breaker opened succeeds, then the breaker stays open")
  func generations() throws {
    var breaker = CircuitBreaker()
    let old = try begin(&breaker, at: .zero)
    try refuse(&breaker, times: 3, at: .zero)
    breaker.end(old, .success, at: .zero)
    #expect(breaker.state == .open)
  }

  @Test(
    "when a trial ends without an answer about the rate, then the same wait begins again",
    arguments: [CircuitBreaker.Outcome.failure, .cancelled])
  func otherEnds(outcome: CircuitBreaker.Outcome) throws {
    var breaker = CircuitBreaker()
    try refuse(&breaker, times: 3, at: .zero)
    let trial = try begin(&breaker, at: .seconds(30))
    breaker.end(trial, outcome, at: .seconds(31))
    #expect(breaker.state == .open)
    #expect(breaker.remaining(at: .seconds(31)) == .seconds(30))
  }

  @Test("when the process dies during a trial, then the next process waits for the rest of the same wait")
  func deathInTrial() throws {
    var breaker = CircuitBreaker()
    try refuse(&breaker, times: 3, at: .zero)
    _ = try begin(&breaker, at: .seconds(40))
    let memory = breaker.memory(at: .seconds(41), bootID: "a")
    let next = CircuitBreaker(policy: breaker.policy, memory: memory, at: .seconds(50), bootID: "a")
    #expect(next.state == .open)
    #expect(next.remaining(at: .seconds(50)) == .seconds(20))
    let afterReboot = CircuitBreaker(policy: breaker.policy, memory: memory, at: .seconds(9), bootID: "b")
    #expect(afterReboot.remaining(at: .seconds(9)) == .seconds(20), "29 s were left, and 9 have passed since the boot")
  }

  @Test("when the store's breaker is damaged, then no wait is endless", arguments: [Int64.max, 1 << 50, -5, 0])
  func damaged(number: Int64) throws {
    for boot in ["a", "b"] {
      let memory = CircuitBreaker.Memory(
        state: .open, refusals: Int(clamping: number), step: Int(clamping: number), deadline: number, remaining: number,
        bootID: "a")
      var breaker = CircuitBreaker(policy: .init(), memory: memory, at: .seconds(100), bootID: boot)
      #expect(breaker.remaining(at: .seconds(100)) <= .seconds(3961))
      _ = try begin(&breaker, at: .seconds(100 + 3961))
    }
  }

  @Test(
    "when the operator forces a request, then an open breaker allows one trial at once, and no second one beside it")
  func force() throws {
    var breaker = CircuitBreaker()
    try refuse(&breaker, times: 3, at: .zero)
    let calls = [false, true, true].map { breaker.begin(at: .zero, force: $0) != nil }
    #expect(calls == [false, true, false])
  }

  @Test(
    "when a forced trial does not succeed, then the wait that it interrupted continues, in the next process too",
    arguments: [CircuitBreaker.Outcome.failure, .cancelled, .tooManyRequests(retryAfter: .seconds(60))])
  func forceShortensNothing(outcome: CircuitBreaker.Outcome) throws {
    var breaker = CircuitBreaker()
    try refuse(&breaker, times: 3, at: .zero, retryAfter: .seconds(3000))
    let trial = try begin(&breaker, at: .seconds(10), force: true)
    let memory = breaker.memory(at: .seconds(11), bootID: "a")
    let next = CircuitBreaker(policy: breaker.policy, memory: memory, at: .seconds(11), bootID: "a")
    #expect(next.remaining(at: .seconds(11)) == .seconds(2989))
    breaker.end(trial, outcome, at: .seconds(11), jitter: 1)
    #expect(breaker.state == .open)
    #expect(breaker.remaining(at: .seconds(11)) == .seconds(2989))
    let again = try begin(&breaker, at: .seconds(20), force: true)
    breaker.end(again, .success, at: .seconds(20))
    #expect(breaker.state == .closed)
  }

  // MARK: Beside the reference; `tools/test --properties` goes further

  @Test("when inputs come in any order, then the breaker and the reference agree after each")
  func allInterleavings() {
    let depth = ProcessInfo.processInfo.environment["BREAKER_DEPTH"].flatMap { Int($0) } ?? 5
    var steps = 0
    #expect(BreakerRig().firstMismatch(depth: depth, &steps) == nil)
    let inputs = BreakerRig.Input.allCases.count
    // inputs + inputs² + ... : each sequence was tried.
    #expect(steps == (0..<depth).reduce(0) { stories, _ in (stories + 1) * inputs })
  }

  @Test("when inputs come in long random sequences, then the breaker and the reference agree throughout")
  func randomStories() {
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    var reached: Set<Int> = []
    for _ in 0..<RandomOrders.count * 125 {
      #expect(BreakerRig.randomMismatch(&reached, &generator) == nil)
    }
    #expect(reached.isSuperset(of: [0, 1, 2, 3]), "the sequences reach the longer waits")
  }
}
