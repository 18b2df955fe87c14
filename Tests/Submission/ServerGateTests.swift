import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// The gate alone: which request may leave when.
struct ServerGateTests {
  private typealias Urgency = ServerGate.Urgency

  /// A gate whose spread is over.
  private func gate() throws -> ServerGate {
    var gate = ServerGate()
    let call = try begin(&gate, .commanded, at: .zero)
    gate.end(call, .success, at: .zero, random: 0)
    return gate
  }

  private func begin(_ gate: inout ServerGate, _ urgency: Urgency, at now: Duration) throws -> ServerGate.Call {
    guard case .leave(let call) = gate.ask(urgency, at: now, random: 0.5) else { throw Refused() }
    return call
  }

  private struct Refused: Error {}

  private func isOpen(_ gate: ServerGate, _ urgency: Urgency, at now: Duration) -> Bool {
    var copy = gate
    if case .leave = copy.ask(urgency, at: now, random: 0) { return true } else { return false }
  }

  private func fail(_ gate: inout ServerGate, _ failure: ServerFailure, at now: Duration) throws {
    let call = try begin(&gate, .commanded, at: now)
    gate.heard(failure, at: now)
    gate.end(call, .failed(failure), at: now, random: 0)
  }

  private static let asks: [ServerFailure] = [
    .tooManyRequests(retryAfter: .seconds(60)),
    .serverTrouble(status: 503, message: "", retryAfter: .seconds(60)),
  ]

  @Test(
    "when one answer has a Retry-After, then no request leaves before it has passed, unless it is forced",
    arguments: asks)
  func retryAfter(failure: ServerFailure) throws {
    var gate = try gate()
    try fail(&gate, failure, at: .seconds(10))
    #expect(gate.breaker.state == .closed)
    for urgency in [Urgency.background, .commanded] {
      #expect(gate.hold(urgency, at: .seconds(10)) == .retryAfter(.seconds(60)))
      #expect(!isOpen(gate, urgency, at: .seconds(69)))
      #expect(isOpen(gate, urgency, at: .seconds(70)))
    }
    #expect(isOpen(gate, .forced, at: .seconds(10)))
  }

  @Test("when another answer asks for a wait during a call, then the next request of the call does not leave")
  func callUnderWay() throws {
    var gate = try gate()
    let call = try begin(&gate, .commanded, at: .zero)
    #expect(gate.allows(call, at: .zero))
    gate.heard(.serverTrouble(status: 503, message: "", retryAfter: .seconds(5)), at: .zero)
    #expect(!gate.allows(call, at: .seconds(4)))
    #expect(gate.allows(call, at: .seconds(5)))
    gate.heard(.serverTrouble(status: 503, message: "", retryAfter: .seconds(100)), at: .seconds(5))
    gate.end(call, .success, at: .seconds(6), random: 0)
    #expect(!isOpen(gate, .commanded, at: .seconds(104)), "its success does not end a wait that came after its begin")
  }

  @Test("when a forced call succeeds, then the wait that it ignored is over; when it does not, then the wait continues")
  func forced() throws {
    for (outcome, isOver) in [
      (ServerGate.Outcome.success, true), (.failed(.unreachable("")), false), (.cancelled, false),
    ] {
      var gate = try gate()
      try fail(&gate, Self.asks[0], at: .zero)
      let call = try begin(&gate, .forced, at: .seconds(1))
      #expect(gate.allows(call, at: .seconds(1)))
      gate.end(call, outcome, at: .seconds(2), random: 0)
      #expect(isOpen(gate, .commanded, at: .seconds(2)) == isOver)
      #expect(isOpen(gate, .commanded, at: .seconds(60)))
    }
  }

  @Test("when a forced call meets another wait, then its next request does not leave")
  func forcedOnce() throws {
    var gate = try gate()
    try fail(&gate, Self.asks[0], at: .zero)
    let call = try begin(&gate, .forced, at: .seconds(1))
    gate.heard(.tooManyRequests(retryAfter: .seconds(500)), at: .seconds(2))
    #expect(!gate.allows(call, at: .seconds(2)))
  }

  @Test("when a pass was in trouble, then background passes wait, and other requests do not")
  func trouble() throws {
    var gate = try gate()
    gate.troubled(by: .unreachable(""), at: .zero, random: 1)
    #expect(gate.hold(.background, at: .zero) == .trouble(.seconds(31)))
    #expect(isOpen(gate, .commanded, at: .zero))
    gate.troubled(by: .refused(status: 403, message: ""), at: .zero, random: 1)
    #expect(gate.hold(.background, at: .zero) == .trouble(.seconds(900)))
    gate.delivered()
    #expect(gate.hold(.background, at: .zero) == nil)
  }

  @Test(
    "when a process starts, or was in trouble, then the first background request waits for its share of the spread, once"
  )
  func spread() throws {
    var gate = ServerGate()
    #expect(gate.ask(.background, at: .zero, random: 0.5) == .spread(.seconds(30)))
    #expect(isOpen(gate, .background, at: .seconds(30)))
    gate.troubled(by: .unreachable(""), at: .zero, random: 0)
    #expect(gate.ask(.background, at: .seconds(1), random: 0.25) == .spread(.seconds(15)))
    gate.troubled(by: .unreachable(""), at: .zero, random: 0)
    #expect(isOpen(gate, .commanded, at: .zero), "a commanded request does not wait")
  }

  /// A gate whose breaker has opened at 0.
  private func opened(retryAfter: Duration? = nil) throws -> ServerGate {
    var gate = try gate()
    for _ in 0..<3 {
      let call = try begin(&gate, .forced, at: .zero)
      let refusal = ServerFailure.tooManyRequests(retryAfter: retryAfter)
      gate.heard(refusal, at: .zero)
      gate.end(call, .failed(refusal), at: .zero, random: 0)
    }
    return gate
  }

  @Test("when the breaker is open, then one forced request leaves, and no other")
  func forcedTrial() throws {
    var gate = try opened()
    #expect(gate.hold(.commanded, at: .zero) == .breaker(.seconds(30)))
    _ = try begin(&gate, .forced, at: .seconds(1))
    #expect(!isOpen(gate, .forced, at: .seconds(1)), "its trial is under way")
  }

  @Test("when the trial after an open breaker meets other trouble than 429, then the breaker waits as long again")
  func failedTrial() throws {
    var gate = try opened()
    let trial = try begin(&gate, .commanded, at: .seconds(30))
    gate.end(trial, .failed(.serverTrouble(status: 503, message: "")), at: .seconds(35), random: 0)
    #expect(gate.hold(.commanded, at: .seconds(35)) == .breaker(.seconds(30)))
    #expect(gate.breaker.state == .open)
  }

  @Test("when breaker and Retry-After end at the same time, then the breaker is the reason")
  func tie() throws {
    let gate = try opened(retryAfter: .seconds(60))
    #expect(gate.hold(.commanded, at: .seconds(10)) == .breaker(.seconds(50)))
  }

  // MARK: Memory

  @Test("when the longest wait of the policy is stored, then the next process restores all of it")
  func longestRestored() throws {
    var policy = ServerGate.Policy()
    (policy.backoff, policy.backoffMax) = (.seconds(3600), .seconds(3600))
    var gate = ServerGate(policy: policy)
    gate.troubled(by: .unreachable(""), at: .zero, random: 1)
    let next = try reborn(gate, at: .zero, bootID: "boot 1", then: .zero)
    #expect(next.hold(.background, at: .zero) == .trouble(.seconds(3601)))
    var paused = ServerGate()
    paused.troubled(by: .refused(status: 401, message: ""), at: .zero, random: 1)
    #expect(
      try reborn(paused, at: .zero, bootID: "boot 1", then: .zero).hold(.background, at: .zero)
        == .trouble(.seconds(900)))
  }

  @Test("when the stored gate cannot be read, then the log reports it, and requests leave")
  func unreadable() async throws {
    let folder = try TemporaryFolder()
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    let log = LogLines()
    let clock = SenderClock(wall: { .rigStart }, boot: { .zero }, bootID: "boot 1", sleep: { _ in })
    for text in ["{", "{}", "[]", #"{"state":"ajar"}"#] {
      try await store.servers.setGateMemory(text, at: "http://host")
      let gate = try ServerGate.stored(
        in: store, server: "http://host", policy: .init(), clock: clock, logger: log.logger)
      #expect(gate.hold(.background, at: .zero) == nil)
    }
    #expect(log.messages.count == 4)
    let line = "the server's stored waits cannot be read; requests may leave now: "
    #expect(log.messages.allSatisfy { $0.hasPrefix(line) })
  }

  private func reborn(_ gate: ServerGate, at now: Duration, bootID: String, then: Duration) throws -> ServerGate {
    let text = try JSONEncoder().encode(gate.memory(at: now, bootID: "boot 1"))
    let memory = try JSONDecoder().decode(ServerGate.Memory.self, from: text)
    return ServerGate(policy: gate.policy, memory: memory, at: then, bootID: bootID)
  }

  @Test("when the process ends, then all waits continue in the next one; after a reboot they count from the boot")
  func restart() throws {
    var gate = try gate()
    try fail(&gate, Self.asks[1], at: .seconds(100))
    gate.troubled(by: .unreachable(""), at: .seconds(100), random: 1)
    gate.troubled(by: .unreachable(""), at: .seconds(100), random: 1)
    let same = try reborn(gate, at: .seconds(110), bootID: "boot 1", then: .seconds(120))
    #expect(same.hold(.commanded, at: .seconds(120)) == .retryAfter(.seconds(40)))
    #expect(same.hold(.background, at: .seconds(120)) == .trouble(.seconds(41)))
    let rebooted = try reborn(gate, at: .seconds(110), bootID: "boot 2", then: .seconds(20))
    #expect(rebooted.hold(.commanded, at: .seconds(20)) == .retryAfter(.seconds(30)))
    #expect(rebooted.hold(.background, at: .seconds(20)) == .trouble(.seconds(31)))
    var next = same
    next.troubled(by: .unreachable(""), at: .seconds(120), random: 1)
    #expect(next.hold(.background, at: .seconds(120)) == .trouble(.seconds(121)), "the back-off keeps growing")
  }

  @Test("when a wait was over before a success, then no later boot waits for it")
  func forgottenWait() throws {
    var gate = try gate()
    try fail(&gate, Self.asks[0], at: .zero)
    let call = try begin(&gate, .commanded, at: .seconds(60))
    gate.end(call, .success, at: .seconds(61), random: 0)
    gate.delivered()
    let rebooted = try reborn(gate, at: .seconds(61), bootID: "boot 2", then: .zero)
    #expect(rebooted.hold(.background, at: .zero) == nil)
  }

  @Test("when the stored memory has absurd numbers, then no wait exceeds the longest one")
  func absurdMemory() throws {
    for number in [Int64.max, .min, -1, 0] {
      let text = """
        {"breaker":{"state":"closed","refusals":0,"step":0,"remaining":0,"bootID":"boot 1"},"failures":\(number),
         "retryAfter":{"at":\(number),"remaining":\(number)},"trouble":{"at":\(number),"remaining":\(number)}}
        """
      let memory = try JSONDecoder().decode(ServerGate.Memory.self, from: Data(text.utf8))
      for boot in ["boot 1", "boot 2"] {
        var gate = ServerGate(policy: ServerGate.Policy(), memory: memory, at: .seconds(5), bootID: boot)
        #expect(gate.hold(.background, at: .seconds(5))?.wait ?? .zero <= .seconds(3600))
        gate.troubled(by: .unreachable(""), at: .seconds(5), random: 1)
        _ = gate.memory(at: .seconds(5), bootID: boot)
      }
    }
  }

  // MARK: Any order

  @Test("when events come in any order, then only forced requests leave before a Retry-After has passed")
  func randomStories() throws {
    var generator = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    for _ in 0..<2000 {
      var (gate, now, calls): (ServerGate, Int, [ServerGate.Call]) = (ServerGate(), 0, [])
      // The expected state: the end of the wait, and for each forced call the wait that it ignored.
      var (owed, forced): (Int, [ServerGate.Call: Int]) = (0, [:])
      for _ in 0..<30 {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1:
          let urgency = [Urgency.background, .commanded, .forced].randomElement(using: &generator) ?? .commanded
          guard case .leave(let call) = gate.ask(urgency, at: .seconds(now), random: 0.5) else { continue }
          #expect(urgency == .forced || now >= owed)
          if urgency == .forced { forced[call] = owed }
          calls.append(call)
        case 2, 3:
          now += Int.random(in: 1...40, using: &generator)
        case 4:
          gate = try reborn(gate, at: .seconds(now), bootID: "boot 1", then: .seconds(now))
          calls = []
        case let choice:
          guard let call = calls.popLast() else { continue }
          if gate.allows(call, at: .seconds(now)) { #expect(now >= owed || forced[call] == owed) }
          guard choice < 7 else {
            gate.end(call, .success, at: .seconds(now), random: 0.5)
            if forced[call] == owed { owed = 0 }
            continue
          }
          let wait = Int.random(in: 0...100, using: &generator)
          let trouble = ServerFailure.serverTrouble(status: 503, message: "", retryAfter: .seconds(wait))
          gate.heard(trouble, at: .seconds(now))
          gate.end(call, .failed(trouble), at: .seconds(now), random: 0.5)
          owed = max(owed, wait > 0 ? now + wait : 0)
        }
      }
    }
  }
}
